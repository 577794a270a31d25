import type { Feature } from './feature.ts'
import { features } from './features.ts'

type Loaded<Member extends keyof Feature> =
  NonNullable<Feature[Member]> extends () => Promise<infer Value> ? Value : never

/** Loads one member of every feature that has it, in the order of the list. */
export async function loadFeatures<Member extends Exclude<keyof Feature, 'commands' | 'subcommands'>>(
  member: Member,
): Promise<readonly Loaded<Member>[]> {
  const all = await Promise.all(features.map(async (feature) => feature[member]?.()))
  return all.filter((loaded) => loaded !== undefined) as Loaded<Member>[] // TypeScript cannot follow `member`
}

/** The items with each addition after the item that it names. */
export function withAdditions<Item>(
  items: readonly Item[],
  additions: readonly (Item & { readonly after: string })[],
  nameOf: (item: Item) => string,
): readonly Item[] {
  return items.flatMap((item) => [item, ...additions.filter(({ after }) => after === nameOf(item))])
}
