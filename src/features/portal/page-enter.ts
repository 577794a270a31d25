import { html } from 'hono/html'
import { type Brand, NO_BRAND } from '../../domain/brand.ts'
import { type Html, name } from '../../http/pages/layout.ts'
import type { Words } from '../../http/pages/texts/words.ts'
import { appOf, cardPage } from './page-frame.ts'
import { portalTexts } from './page-texts.ts'

export interface EnterView {
  readonly words: Words
  readonly brand: Brand
  readonly user: string
  readonly ticket: string
}

/** The page that a one-time link opens. It names the user; only its button uses the link up. */
export function enterPage(view: EnterView): Html {
  const { words, user, ticket } = view
  const t = portalTexts(words).enter
  const app = appOf(view)
  const inside = html`<h1>${t.title({ user: name(user, { longest: 512 }), app })}</h1>
<p>${t.text}</p>
<p class="warning">${t.warning({ app })}</p>
<form method="post" action="/me/enter"><input type="hidden" name="ticket" value="${ticket}"><button type="submit">${t.button}</button></form>`
  return cardPage(view, t.button, inside)
}

/** The page for a link that was used, has expired or never existed. */
export function goneLinkPage(words: Words): Html {
  const t = portalTexts(words).enter
  return cardPage(
    { words, brand: NO_BRAND },
    t.gone,
    html`<h1>${t.gone}</h1><p>${t.goneText({ app: undefined })}</p>`,
  )
}

/** The page for a browser without a session when no issuer can log its user in. */
export function outsidePage(words: Words): Html {
  const t = portalTexts(words).outside
  return cardPage({ words, brand: NO_BRAND }, t.title, html`<h1>${t.title}</h1><p>${t.text}</p>`)
}

/** The page after the logout. */
export function leftPage(words: Words, { canLogIn }: { readonly canLogIn: boolean }): Html {
  const t = portalTexts(words).outside
  const again = canLogIn && html`<a class="button" href="/me">${t.again}</a>`
  return cardPage({ words, brand: NO_BRAND }, t.left, html`<h1>${t.left}</h1><p>${t.leftText}</p>${again}`)
}
