import { readFileSync } from 'node:fs'

/** A logo of 24 by 24 units in one colour. */
export interface Logo {
  /** Six hexadecimal digits. */
  readonly color: string
  /** The `d` of an SVG path. */
  readonly path: string
}

let logos: Readonly<Record<string, Logo>> | undefined

/** The logo of that name. `logos.json` says where they are copied from (CC0-1.0). */
export function findLogo(slug: string): Logo | undefined {
  logos ??= readLogos()
  return Object.hasOwn(logos, slug) ? logos[slug] : undefined
}

function readLogos(): Readonly<Record<string, Logo>> {
  const file = readFileSync(new URL('./logos.json', import.meta.url), 'utf8')
  return (JSON.parse(file) as { readonly logos: Record<string, Logo> }).logos // a file of this folder
}
