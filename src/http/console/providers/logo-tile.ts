import { html } from 'hono/html'
import type { Html } from '../../pages/layout.ts'
import { tileLogo } from '../../pages/logo-assets.ts'
import { firstLetter } from '../../pages/provider-tile.ts'

/** A small tile with the logo of that name, else the first letter of the provider's name. Screen readers skip it. */
export function logoTile(logo: string | undefined, providerName: string): Html {
  const image = tileLogo(logo)
  if (image === undefined)
    return html`<span class="logo" aria-hidden="true"><bdi>${firstLetter(providerName)}</bdi></span>`
  return html`<span class="logo" aria-hidden="true"><img src="${image.href}" alt="" width="20" height="20" loading="lazy"></span>`
}
