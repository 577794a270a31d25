import { html } from 'hono/html'
import { type Html, webUrl } from '../../pages/layout.ts'

/** A link to another site; the text alone if the address is not a web URL. */
export function externalLink(address: string | undefined, text: string): Html {
  const url = webUrl(address)
  if (url === undefined) return html`${text}`
  return html`<a href="${url.href}" rel="noreferrer noopener">${text} <span class="muted">(${url.host})</span></a>`
}
