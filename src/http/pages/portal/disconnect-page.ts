import { html } from 'hono/html'
import { type Html, name } from '../layout.ts'
import { providerTile, type TileLogo } from '../provider-tile.ts'
import { appOf, buttonForm, cardPage, type PortalFrame } from './portal-frame.ts'

export interface DisconnectView extends PortalFrame {
  readonly id: string
  readonly providerName?: string | undefined
  readonly logo?: TileLogo | undefined
  readonly account: string
}

/** Asks once before an account is disconnected. */
export function disconnectPage(view: DisconnectView): Html {
  const { words, id, account, logo } = view
  const t = words.texts.portal
  const providerName = view.providerName ?? t.removedProvider
  const provider = name(providerName)
  const inside = html`${providerTile({ providerName, logo })}
<h1>${t.confirmDisconnect({ provider })}</h1>
${account !== '' && html`<p class="identity"><strong>${name(account)}</strong></p>`}
<p>${t.confirmText({ provider, app: appOf(view) })}</p>
${buttonForm(view, { action: `/me/connections/${id}/disconnect`, text: t.disconnect, look: 'danger' })}
<a class="button secondary" href="/me">${t.keep}</a>`
  return cardPage(view, t.disconnect, inside)
}
