import { html } from 'hono/html'
import { logoNamed } from '../../../providers/catalogue/logos.ts'
import type { Html } from '../../pages/layout.ts'
import { onLight } from '../../pages/logo-assets.ts'

/** A small tile with the logo of that name, else the first letter of what it is called. Screen readers skip it. */
export function logoTile(logo: string | undefined, called: string): Html {
  const known = logo === undefined ? undefined : logoNamed(logo)
  if (known === undefined)
    return html`<span class="logo" aria-hidden="true"><bdi>${/[\p{L}\p{N}]/u.exec(called)?.[0].toUpperCase() ?? '?'}</bdi></span>`
  return html`<span class="logo" aria-hidden="true"><svg viewBox="0 0 24 24" width="20" height="20" fill="#${onLight(known.color)}"><path d="${known.path}"/></svg></span>`
}
