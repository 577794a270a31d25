import { html } from 'hono/html'
import { type Brand, NO_BRAND } from '../brand.ts'
import { type Html, name } from '../layout.ts'
import type { Words } from '../texts/words.ts'
import { appOf, cardPage } from './portal-frame.ts'

export interface EnterView {
  readonly words: Words
  readonly brand: Brand
  readonly user: string
  readonly ticket: string
}

/** What a one-time link opens: it says whose page comes, and only its button spends the link. */
export function enterPage(view: EnterView): Html {
  const { words, user, ticket } = view
  const t = words.texts.portal.enter
  const who = name(user, { longest: 512 })
  const inside = html`<h1>${t.title(who, appOf(view))}</h1>
<p>${t.text}</p>
<p class="warning">${t.warning(appOf(view))}</p>
<form method="post" action="/me/enter"><input type="hidden" name="ticket" value="${ticket}"><button type="submit">${t.button}</button></form>`
  return cardPage(view, t.button, inside)
}

/** A link that was used, has run out, or never was. */
export function goneLinkPage(words: Words): Html {
  const t = words.texts.portal.enter
  return cardPage({ words, brand: NO_BRAND }, t.gone, html`<h1>${t.gone}</h1><p>${t.goneText(undefined)}</p>`)
}

/** For a browser without a session, where no issuer can log its user in. */
export function outsidePage(words: Words): Html {
  const t = words.texts.portal.outside
  return cardPage({ words, brand: NO_BRAND }, t.title, html`<h1>${t.title}</h1><p>${t.text}</p>`)
}

/** After the log-out. */
export function leftPage(words: Words, { canLogIn }: { readonly canLogIn: boolean }): Html {
  const t = words.texts.portal.outside
  const again = canLogIn && html`<a class="button" href="/me">${t.again}</a>`
  return cardPage({ words, brand: NO_BRAND }, t.left, html`<h1>${t.left}</h1><p>${t.leftText}</p>${again}`)
}
