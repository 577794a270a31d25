import { html } from 'hono/html'
import { type Html, name } from '../../http/pages/layout.ts'
import { providerTile, type TileLogo } from '../../http/pages/provider-tile.ts'
import type { Text } from '../../http/pages/texts/text.ts'
import { appOf, buttonForm, cardPage, type PortalFrame } from './page-frame.ts'
import { portalTexts } from './page-texts.ts'

export interface DisconnectView extends PortalFrame {
  readonly id: string
  readonly providerName?: string | undefined
  readonly logo?: TileLogo | undefined
  readonly account: string
  /** Where the user deletes a typed key; empty if the entry does not say. Absent: nothing was typed. */
  readonly keyAt?: string | undefined
  /** Where the user ends the installation; empty if the entry does not say. Absent: nothing is installed. */
  readonly installedAt?: string | undefined
}

/** Asks once before an account is disconnected. */
export function disconnectPage(view: DisconnectView): Html {
  const { words, id, account, logo } = view
  const t = portalTexts(words)
  const providerName = view.providerName ?? t.removedProvider
  const provider = name(providerName)
  const inside = html`${providerTile({ providerName, logo })}
<h1>${t.confirmDisconnect({ provider })}</h1>
${account !== '' && html`<p class="identity"><strong>${name(account)}</strong></p>`}
<p>${t.confirmText({ provider, app: appOf(view) })}</p>
${view.keyAt !== undefined && html`<p>${t.keyStays({ provider: placeOf(view.keyAt, provider) })}</p>`}
${view.installedAt !== undefined && html`<p>${t.installationStays({ provider: placeOf(view.installedAt, provider) })}</p>`}
${buttonForm(view, { action: `/me/connections/${id}/disconnect`, text: t.disconnect, look: 'danger' })}
<a class="button secondary" href="/me">${t.keep}</a>`
  return cardPage(view, t.disconnect, inside)
}

function placeOf(url: string, provider: Text): Text {
  return url === ''
    ? provider
    : html`<a href="${url}" target="_blank" rel="noopener noreferrer">${provider}</a>`
}
