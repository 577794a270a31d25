import { loadFeatures, withAdditions } from '../../features/load-features.ts'
import { type MenuGroup, OWN_MENU } from './navigation.ts'

export const pagesOfFeatures = await loadFeatures('pages')

const added = pagesOfFeatures.map(({ menu }) => menu)

/** The console's pages, by group. */
export const MENU: readonly MenuGroup[] = OWN_MENU.map((group) => ({
  ...group,
  items: [
    ...added.filter(({ after }) => after === group.label),
    ...withAdditions(group.items, added, ({ path }) => path),
  ],
}))
