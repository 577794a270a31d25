import { html } from 'hono/html'
import type { Brand } from '../../domain/brand.ts'
import type { Html } from './layout.ts'

/** The image of a provider's logo, which `logo-assets.ts` serves. */
export interface TileLogo {
  readonly href: string
}

/** The provider's logo, or the first letter of its name. Screen readers skip it, since the heading has the name. */
export function providerTile({
  providerName,
  logo,
}: {
  readonly providerName: string
  readonly logo?: TileLogo | undefined
}): Html {
  return logo === undefined
    ? html`<p class="tile" aria-hidden="true"><bdi>${firstLetter(providerName)}</bdi></p>`
    : html`<p class="tile" aria-hidden="true"><img src="${logo.href}" alt="" width="28" height="28"></p>`
}

/** The application's own logo, or the first letter of its name. */
export function appTile({ appName, logo }: Pick<Brand, 'appName' | 'logo'>): Html {
  return logo === undefined
    ? html`<p class="tile app"><bdi>${firstLetter(appName ?? '')}</bdi></p>`
    : html`<p class="tile"><img src="${logo}" alt="" width="40" height="40"></p>`
}

/** The first letter or digit of a name, in capitals; `?` if it has none. */
export function firstLetter(text: string): string {
  return /[\p{L}\p{N}]/u.exec(text)?.[0].toUpperCase() ?? '?'
}
