import { html } from 'hono/html'
import { type Html, name } from '../../http/pages/layout.ts'
import { appOf, buttonForm, cardPage, type PortalFrame, returnLink } from './page-frame.ts'
import { portalTexts } from './page-texts.ts'
import type { Permission } from './portal-rights.ts'

export interface DataView extends PortalFrame {
  readonly mayExport: Permission
  readonly mayErase: Permission
}

/** Lets users download or delete the data that is stored about them. */
export function dataPage(view: DataView): Html {
  const { words, mayExport, mayErase } = view
  const t = portalTexts(words).data
  const logIn = mayExport === 'log in' || mayErase === 'log in'
  const inside = html`<h1>${t.title}</h1>
<h2>${t.download}</h2>
<p>${t.downloadText}</p>
${mayExport === 'missing' && html`<p class="muted">${t.notAllowed({ app: appOf(view) })}</p>`}
${mayExport === 'given' && buttonForm(view, { action: '/me/export', text: t.download, look: 'primary' })}
<h2>${t.erase}</h2>
<p>${t.eraseText}</p>
${mayErase === 'missing' && html`<p class="muted">${t.notAllowed({ app: appOf(view) })}</p>`}
${mayErase === 'given' && html`<a class="button danger" href="/me/erase">${t.erase}</a>`}
${logIn && html`<p>${t.logInFirst}</p>${buttonForm(view, { action: '/me/login', text: t.logIn, look: 'primary' })}`}
<p><a href="/me">${t.back}</a></p>`
  return cardPage(view, t.title, inside)
}

export interface EraseView extends PortalFrame {
  /** The number of connections. The form sends it, so that the final page can tell whether it lists all of them. */
  readonly connections: number
  /** Connections of the project are shared with the user. */
  readonly hasShared: boolean
}

/** Says what will be deleted and what will be kept, and asks for confirmation. */
export function erasePage(view: EraseView): Html {
  const { words, connections, hasShared } = view
  const t = portalTexts(words).erase
  const inside = html`<h1>${t.title}</h1>
<p><strong>${t.intro}</strong></p>
<ul class="points">${t.points.map((point) => html`<li>${point}</li>`)}${hasShared && html`<li>${t.sharedStay}</li>`}</ul>
${buttonForm(view, {
  action: '/me/erase',
  text: t.button,
  look: 'danger',
  inside: html`<input type="hidden" name="connections" value="${connections}"><label><input type="checkbox" name="understood" value="yes" required> ${t.understood}</label>`,
})}
<a class="button secondary" href="/me/data">${t.keep}</a>`
  return cardPage(view, t.title, inside)
}

/** The page after the deletion. It lists the services at which users must end the access themselves. */
export function erasedPage(
  view: Pick<PortalFrame, 'words' | 'brand' | 'returnUrl'> & {
    readonly unconfirmed: readonly { readonly providerName: string; readonly account: string }[]
    /** Further connections were deleted before, and it is not known which services confirmed that. */
    readonly hasOthers: boolean
  },
): Html {
  const { words, unconfirmed, hasOthers } = view
  const t = portalTexts(words).erase
  const back = returnLink(view)
  const inside = html`<h1>${t.done}</h1>
<p>${t.doneText}</p>
${
  unconfirmed.length > 0 &&
  html`<p>${t.unconfirmed}</p><ul class="points">${unconfirmed.map(({ providerName, account }) => html`<li>${name(providerName)}${account !== '' && html` (${name(account)})`}</li>`)}</ul>`
}
${hasOthers && html`<p>${t.disconnectedBefore}</p>`}
${back && html`<p>${back}</p>`}`
  return cardPage(view, t.done, inside)
}
