import { html } from 'hono/html'
import { logoNamed } from '../../../providers/catalogue/logos.ts'
import type { Html } from '../../pages/layout.ts'

/** A small tile with the logo of that name, else the first letter of what it is called. Screen readers skip it. */
export function logoTile(logo: string | undefined, called: string): Html {
  const known = logo === undefined ? undefined : logoNamed(logo)
  if (known === undefined)
    return html`<span class="logo" aria-hidden="true"><bdi>${/[\p{L}\p{N}]/u.exec(called)?.[0].toUpperCase() ?? '?'}</bdi></span>`
  return html`<span class="logo" aria-hidden="true"><svg viewBox="0 0 24 24" width="20" height="20" fill="#${onLight(known.color)}"><path d="${known.path}"/></svg></span>`
}

/** The tile is light in both colour schemes: a logo that is nearly white is drawn dark. */
function onLight(color: string): string {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
  return 0.3 * red + 0.6 * green + 0.1 * blue > 220 ? '3f4550' : color
}
