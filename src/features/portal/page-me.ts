import { html } from 'hono/html'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { NeedsAuthorizationReason } from '../../domain/connection.ts'
import type { ClientRights } from '../../flows/mcp-clients.ts'
import { documentedBy } from '../../http/pages/connect-page.ts'
import { type Html, name, page } from '../../http/pages/layout.ts'
import { providerTile, type TileLogo } from '../../http/pages/provider-tile.ts'
import type { Words } from '../../http/pages/texts/words.ts'
import { day, moment } from '../../http/pages/times.ts'
import type { DescribedScope } from '../../providers/catalogue/scope-sentences.ts'
import { appOf, buttonForm, type PortalFrame, returnLink } from './page-frame.ts'
import { portalStyle } from './page-style.ts'
import { portalTexts } from './page-texts.ts'

/** Sentences that are shown at once; the others are behind a toggle. */
const SENTENCES_SHOWN = 4

export interface ConnectionCard {
  readonly id: string
  /** Absent: the provider was removed. */
  readonly providerName?: string | undefined
  readonly logo?: TileLogo | undefined
  readonly account: string
  /** The provider's own page about its scopes. */
  readonly documentation?: string | undefined
  readonly scopes: readonly DescribedScope[]
  /** The user typed a key or password, which has no scopes. */
  readonly isTyped: boolean
  readonly isDefault: boolean
  /** The user has other accounts at this provider. */
  readonly hasSiblings: boolean
  readonly broken?: NeedsAuthorizationReason | undefined
  readonly createdAt: EpochSeconds
  readonly lastUsedAt?: EpochSeconds | undefined
  readonly unusedSince?: EpochSeconds | undefined
  readonly tools: readonly { readonly title: string; readonly lastUsedAt: EpochSeconds }[]
  readonly moreTools: number
}

export interface ClientCard {
  readonly id: string
  readonly clientName: string
  /** The host that vouches for the client; absent: the client is not verified. */
  readonly verifiedHost?: string | undefined
  readonly may: ClientRights
  readonly createdAt: EpochSeconds
  readonly lastUsedAt?: EpochSeconds | undefined
}

/** A connection of the project. There is nothing that the user could do with it here. */
export interface SharedCard {
  readonly id: string
  readonly name: string
  readonly providerName: string
  readonly logo?: TileLogo | undefined
}

export interface MeView extends PortalFrame {
  readonly connections: readonly ConnectionCard[]
  /** The URL of the next page of connections. */
  readonly next?: string | undefined
  readonly shared: readonly SharedCard[]
  readonly clients: readonly ClientCard[]
  /** What features show: first what needs the user now. */
  readonly first: readonly (Html | '')[]
  readonly rest: readonly (Html | '')[]
  readonly can: { readonly disconnect: boolean; readonly connect: boolean; readonly data: boolean }
  readonly note?: { readonly text: Html | string; readonly tone: 'good' | 'wait' } | undefined
}

/** The user's own page: what is connected, for what, since when and for which tools, each with a way to end it. */
export function mePage(view: MeView): Html {
  const { words, brand, user, connections, shared, clients, can, note, next, first, rest } = view
  const t = portalTexts(words)
  const app = appOf(view)
  const back = returnLink(view)
  const body = html`<main class="portal">
${back && html`<p class="small">${back}</p>`}
<h1>${t.title}</h1>
<p>${t.intro({ app })}</p>
<div class="whoami small"><p>${t.youAre({ user: name(user, { longest: 512 }), app })}</p>${buttonForm(view, { action: '/me/logout', text: words.texts.clients.own.logout, look: 'link' })}</div>
${note && html`<p class="note ${note.tone}" role="status">${note.text}</p>`}
${first}
${connections.length === 0 && html`<p class="card empty muted">${t.none}</p>`}
${connections.map((connection) => connectionCard(view, connection))}
${next !== undefined && html`<p><a href="${next}">${t.showMore}</a></p>`}
${shared.length > 0 && sharedSection(view)}
${clients.length > 0 && clientsSection(view)}
${rest}
${can.data && html`<section class="aside"><h2>${t.data.title}</h2><p>${t.data.intro}</p><div class="actions"><a class="button secondary" href="/me/data">${t.data.open}</a></div></section>`}
</main>`
  return page(t.title, body, { words, brand, style: portalStyle.href })
}

function connectionCard(view: MeView, card: ConnectionCard): Html {
  const { words, can } = view
  const t = portalTexts(words)
  const providerName = card.providerName ?? t.removedProvider
  const provider = name(providerName)
  const full = card.account === '' ? providerName : `${providerName}, ${card.account}`
  const at = `/me/connections/${card.id}`
  const isBroken = card.broken !== undefined
  return html`<article class="card connection" aria-labelledby="${card.id}">
<header>${providerTile({ providerName, logo: card.logo })}
<div><h2 id="${card.id}">${provider}</h2>${card.account !== '' && html`<p class="muted">${name(card.account)}</p>`}</div>
${isBroken ? html`<p class="badge wait">${t.needsYou}</p>` : card.isDefault && card.hasSiblings && html`<p class="badge">${t.isDefault}</p>`}</header>
${card.broken !== undefined && html`<p class="warning">${brokenText(words, card.broken, provider)}${words.gap}${t.untilReconnected}</p>`}
<h3>${t.may}</h3>
${sentences(words, providerName, card)}
<dl class="facts small">
<dt>${t.connectedOn}</dt><dd>${day(words, card.createdAt)}</dd>
<dt>${words.texts.clients.own.lastUsed}</dt><dd>${card.lastUsedAt === undefined ? words.texts.clients.own.never : moment(words, card.lastUsedAt)}</dd>
${card.tools.length > 0 && html`<dt>${t.usedBy}</dt><dd><ul class="uses">${card.tools.map((tool) => html`<li>${name(tool.title)} <span class="muted">${day(words, tool.lastUsedAt)}</span></li>`)}${card.moreTools > 0 && html`<li class="muted">${t.moreTools({ count: card.moreTools })}</li>`}</ul></dd>`}
</dl>
${card.unusedSince !== undefined && html`<p class="hint small">${t.unused({ day: words.date(card.unusedSince) })}</p>`}
${
  (can.connect || can.disconnect) &&
  html`<div class="actions">
${can.connect && isBroken && card.providerName !== undefined && buttonForm(view, { action: `${at}/reconnect`, text: t.reconnect, about: full, look: 'primary' })}
${can.connect && !isBroken && card.hasSiblings && !card.isDefault && buttonForm(view, { action: `${at}/default`, text: t.makeDefault, about: full })}
${can.disconnect && html`<a class="button secondary" href="${at}/disconnect" aria-label="${t.disconnect}: ${full}">${t.disconnect}</a>`}
${can.connect && card.isDefault && card.providerName !== undefined && buttonForm(view, { action: `${at}/another`, text: t.addAccount({ provider }), look: 'link' })}
</div>`
}
</article>`
}

function brokenText(words: Words, reason: NeedsAuthorizationReason, provider: Html): Html | string {
  const text = portalTexts(words).reasons[reason]
  return typeof text === 'function' ? text({ provider }) : text
}

function sentences(
  words: Words,
  providerName: string,
  { scopes, isTyped, documentation }: ConnectionCard,
): Html {
  const t = portalTexts(words)
  if (isTyped) return html`<ul class="scopes"><li>${t.byKey}</li></ul>`
  if (scopes.length === 0)
    return html`<ul class="scopes"><li>${t.defaults({ provider: name(providerName) })}</li></ul>`
  const items = scopes.map(({ scope, sentence }) =>
    sentence === undefined
      ? html`<li>${t.undescribed({ scope: html`<code><bdi>${scope}</bdi></code>`, provider: documentedBy({ providerName, documentation }) })}</li>`
      : html`<li${sentence.language === words.language ? '' : html` lang="${sentence.language}"`}>${name(sentence.text, { longest: 200 })}</li>`,
  )
  const rest = items.slice(SENTENCES_SHOWN)
  return html`<ul class="scopes">${items.slice(0, SENTENCES_SHOWN)}</ul>
${rest.length > 0 && html`<details class="more"><summary>${t.more({ count: rest.length })}</summary><ul class="scopes">${rest}</ul></details>`}`
}

function sharedSection(view: MeView): Html {
  const t = portalTexts(view.words).shared
  return html`<section class="aside" id="shared"><h2>${t.title}</h2>
<p>${t.intro({ app: appOf(view) })}</p>
${view.shared.map(
  ({ id, name: title, providerName, logo }) => html`<article class="card connection" aria-labelledby="${id}">
<header>${providerTile({ providerName, logo })}
<div><h3 id="${id}">${name(providerName)}</h3><p class="muted">${name(title)}</p></div>
<p class="badge">${t.belongs}</p></header>
</article>`,
)}
</section>`
}

function clientsSection(view: MeView): Html {
  const { words, clients, can } = view
  const t = portalTexts(words)
  return html`<section class="aside" id="applications"><h2>${words.texts.clients.own.applications}</h2>
<p>${words.texts.clients.own.applicationsIntro}</p>
${clients.map(
  (card) => html`<article class="card connection" aria-labelledby="${card.id}">
<header><div><h3 id="${card.id}">${name(card.clientName)}</h3><p class="muted">${card.verifiedHost === undefined ? words.texts.clients.own.unverified : name(card.verifiedHost)}</p></div></header>
<p>${words.texts.clients.own.applicationMay[card.may]}</p>
<dl class="facts small">
<dt>${words.texts.clients.own.allowedOn}</dt><dd>${day(words, card.createdAt)}</dd>
<dt>${words.texts.clients.own.lastUsed}</dt><dd>${card.lastUsedAt === undefined ? words.texts.clients.own.never : moment(words, card.lastUsedAt)}</dd>
</dl>
${can.disconnect && html`<div class="actions">${buttonForm(view, { action: `/me/applications/${card.id}/end`, text: card.may === 'nothing' ? words.texts.clients.own.removeApplication : words.texts.clients.own.endAccess, about: card.clientName })}</div>`}
</article>`,
)}
${can.disconnect && clients.length > 1 && html`<div class="actions">${buttonForm(view, { action: '/me/applications/end-all', text: t.endAllAccess })}</div>`}
</section>`
}
