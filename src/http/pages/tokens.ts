import { readFileSync } from 'node:fs'

const css = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8')
const [light = '', dark = ''] = [...css.matchAll(/:root \{([^}]*)\}/g)].map(
  ([, declarations]) => declarations,
)

/** The design tokens by colour scheme, for what shows both schemes at once. `dark` has only those that differ. */
export const tokens = { light, dark } as const
