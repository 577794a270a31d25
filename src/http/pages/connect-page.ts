import { html } from 'hono/html'
import { type Brand, NO_BRAND, type Note } from '../../domain/brand.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { type Html, name, page } from './layout.ts'
import { appTile, providerTile, type TileLogo } from './provider-tile.ts'
import type { Text } from './texts/text.ts'
import type { Words } from './texts/words.ts'

/** The prefix of the names of the form's fields for values. */
export const VALUE_PREFIX = 'value.'
/** The field of the form that says for which identity of the provider it was made. */
export const IDENTITY_FIELD = 'identity'

/** A value that the user is asked for, such as the subdomain of an account. */
export interface ValueField {
  readonly name: string
  readonly label: string
  readonly example?: string
  readonly oneOf?: readonly string[]
  readonly value: string
  /** The application has given it. */
  readonly isGiven: boolean
  readonly isWrong: boolean
  /** A secret is typed into a password field, and never written into the page. */
  readonly isSecret?: boolean
  readonly isMultiline?: boolean
  readonly max?: number
  /** The provider's page where people find the value. */
  readonly helpUrl?: string
}

/** What the page says where people type credentials in place of a consent at the provider. */
export interface TypedView {
  /** The hosts to which the credentials are sent. */
  readonly hosts: readonly string[]
  /** The provider's identity, which comes back with the form: nothing is sent to hosts that the page did not name. */
  readonly identity: string
  readonly problem?: 'credential_refused' | 'credential_unchecked' | undefined
}

/** A scope that will be requested, and what is known about it. */
export interface ShownScope {
  readonly scope: string
  readonly sentence?: { readonly text: string; readonly language: string } | undefined
  readonly level?: 'read' | 'write' | 'admin' | undefined
  readonly sensitive?: boolean | undefined
  /** Whether the user has allowed it before; absent: the user has allowed nothing yet. */
  readonly isAllowed?: boolean | undefined
}

export interface ConnectView {
  readonly brand?: Brand
  /** The tool or application that asks for access. */
  readonly requester?: string | undefined
  readonly providerName: string
  /** Absent: the page shows the first letter of the name. */
  readonly logo?: TileLogo | undefined
  /** The provider's own page about its scopes. */
  readonly documentation?: string | undefined
  readonly userId: string
  /** The display name of the user, which the caller gave. */
  readonly userDisplay?: string | undefined
  readonly scopes: readonly ShownScope[]
  readonly fields?: readonly ValueField[]
  /** Absent where the user approves at the provider. */
  readonly typed?: TypedView | undefined
  /** The index of the current step, from 0. */
  readonly step: number
  readonly steps: readonly { readonly providerName: string; readonly done: boolean }[]
  readonly expiresAt: EpochSeconds
  readonly now: EpochSeconds
  readonly authorizationId: string
  /** The URL to which the form is posted. */
  readonly action: string
  /** The URL to which *Cancel* is posted. */
  readonly cancelAction: string
  /** Why the user is asked again although an account is connected, in English. */
  readonly askedAgain?: string | undefined
  /** The host of the authorization endpoint. */
  readonly opens: string
  /** The host at which the user must log in first, if any. */
  readonly loginAt?: string | undefined
  /** The page on which the user can end the access later. */
  readonly ownPage: URL | undefined
  /** The address that the user can open in a browser, if this page is shown inside another app. */
  readonly forBrowser?: string | undefined
}

/** The page before the redirect to the provider: who asks for which access, for which user, and what happens next. */
export function connectPage(view: ConnectView, words: Words): Html {
  const { brand = NO_BRAND, requester, action, cancelAction, loginAt, ownPage } = view
  const { connect } = words.texts
  const { appName } = brand
  const provider = name(view.providerName)
  const app = appName === undefined ? undefined : name(appName)
  // if the project has no application name, the page names the requester as the one that asks
  const asks = app ?? (requester === undefined ? undefined : name(requester))
  const endAt =
    ownPage && html`<a href="${ownPage.pathname}">${name(`${ownPage.host}${ownPage.pathname}`)}</a>`
  const body = html`<main>
<article class="card">
${view.steps.length > 1 && progress(view, words)}
${tiles(view, brand)}
<h1>${connect.wants({ app: asks, provider })}</h1>
${app !== undefined && requester !== undefined && html`<p class="muted for">${connect.forTool({ tool: name(requester) })}</p>`}
${identity(view, app, words)}
${noteOf(brand.note('connect.note', words.language))}
${view.askedAgain !== undefined && html`<p>${connect.askedAgain}${words.language === 'en' && html` ${view.askedAgain}`}</p>`}
<h2>${connect.willBeAbleTo({ app: asks })}</h2>
<ul class="scopes">
${view.typed !== undefined ? html`<li><span>${connect.typed.able({ provider })}</span></li>` : view.scopes.length === 0 ? html`<li>${connect.defaults({ provider })}</li>` : view.scopes.map((scope) => scopeItem(scope, view, words))}
</ul>
<form method="post" action="${action}">${problemOf(view, words)}${view.typed !== undefined && html`<input type="hidden" name="${IDENTITY_FIELD}" value="${view.typed.identity}">`}${(view.fields ?? []).map((row) => field(row, words))}
<p class="warning" role="note">${connect.warning({ app })}</p>
${view.forBrowser !== undefined && insideApp(view.forBrowser, words)}
<button type="submit">${submitText(view, words)}</button>
<button class="secondary" type="submit" form="cancel">${connect.cancel}</button></form>
<form id="cancel" method="post" action="${cancelAction}"></form>
<p class="muted small">${loginAt !== undefined && html`${connect.loginFirst({ host: html`<strong>${name(loginAt)}</strong>` })}${words.gap}`}${nextOf(view, words)}${endAt && html`${words.gap}${connect.endAccess({ ownPage: endAt })}`}</p>
${details(view, words)}
<p class="muted small">${timeLeft(view, words)}</p>
</article>
</main>`
  return page(connect.title({ provider: view.providerName }), body, { words, brand })
}

/** Why what was typed is asked for again; screen readers say it first. */
function problemOf({ typed, providerName }: ConnectView, { texts: { connect }, gap }: Words): Html | '' {
  if (typed?.problem === undefined) return ''
  const about = { provider: name(providerName) }
  const text =
    typed.problem === 'credential_refused' ? connect.typed.refused(about) : connect.typed.unchecked(about)
  return html`<p class="warning" role="alert">${text}${gap}${connect.typed.secretAgain}</p>`
}

function submitText({ typed, loginAt, providerName }: ConnectView, { texts: { connect } }: Words): Text {
  if (typed === undefined) return connect.continueTo({ provider: name(providerName) })
  return loginAt === undefined ? connect.typed.connect : connect.typed.continue
}

function nextOf({ typed, opens, providerName }: ConnectView, { texts: { connect } }: Words): Text {
  if (typed === undefined) return connect.next({ host: html`<strong>${name(opens)}</strong>` })
  const hosts = html`<strong>${name(typed.hosts.join(', '), { longest: 200 })}</strong>`
  return connect.typed.stored({ host: hosts, provider: name(providerName) })
}

function tiles({ providerName, logo }: ConnectView, brand: Brand): Html {
  const provider = providerTile({ providerName, logo })
  if (brand.appName === undefined && brand.logo === undefined) return provider
  return html`<div class="tiles" aria-hidden="true">${appTile(brand)}<span class="link"></span>${provider}</div>`
}

/** Names the user for whom the link is. A user id is shown here only if it is an email address, which people know. */
function identity(view: ConnectView, app: Text | undefined, words: Words): Html {
  const { connect } = words.texts
  const { userId, userDisplay = /^\S+@\S+$/.test(userId) ? userId : undefined } = view
  const who =
    userDisplay === undefined
      ? connect.forOneUser({ app })
      : connect.youAre({ user: name(userDisplay, { longest: 100 }), app })
  return html`<p class="identity">${who}${words.gap}${connect.notYou({ cancel: connect.cancel })}</p>`
}

function insideApp(address: string, { texts: { connect } }: Words): Html {
  return html`<label class="small">${connect.insideApp}
<input readonly value="${address}" dir="ltr"></label>`
}

export function noteOf(note: Note | undefined): Html | false {
  return note !== undefined && html`<p class="own-note" lang="${note.language}" dir="auto">${note.text}</p>`
}

/** One item of the list of what will be allowed. */
export function scopeItem(
  shown: ShownScope,
  view: Pick<ConnectView, 'providerName' | 'documentation'>,
  { texts: { connect } }: Words,
): Html {
  const { scope, sentence, level, sensitive = false, isAllowed } = shown
  const words =
    sentence === undefined
      ? html`<span>${connect.undescribed({ scope: html`<code><bdi>${scope}</bdi></code>`, provider: documentedBy(view) })}</span>`
      : html`<span lang="${sentence.language}">${name(sentence.text, { longest: 200 })}</span>`
  return html`<li>${words} <span class="badges">${sensitive && html`<span class="badge wait">${connect.sensitive}</span>`}
${level !== undefined && html`<span class="badge">${connect.levels[level]}</span>`}
${isAllowed !== undefined && html`<span class="badge${isAllowed ? '' : ' new'}">${isAllowed ? connect.alreadyAllowed : connect.isNew}</span>`}</span></li>`
}

/** The provider's name, as a link to the page where it describes its scopes. */
export function documentedBy({
  providerName,
  documentation,
}: Pick<ConnectView, 'providerName' | 'documentation'>): Html {
  if (documentation === undefined) return name(providerName)
  return html`<a href="${documentation}" target="_blank" rel="noopener noreferrer">${name(providerName)}</a>`
}

function details(
  { userId, requester, scopes, authorizationId }: ConnectView,
  { texts: { connect } }: Words,
): Html {
  const { detail } = connect
  const codes = scopes.map(({ scope }) => html`<code><bdi>${scope}</bdi></code> `)
  return html`<details class="small"><summary>${connect.details}</summary>
<dl class="facts">
<dt>${detail.scopes}</dt><dd>${scopes.length === 0 ? '–' : codes}</dd>
<dt>${detail.user}</dt><dd>${name(userId, { longest: 512 })}</dd>
${requester !== undefined && html`<dt>${detail.tool}</dt><dd>${name(requester)}</dd>`}
<dt>${detail.request}</dt><dd>${authorizationId}</dd>
</dl></details>`
}

function field(shown: ValueField, { texts: { connect }, gap }: Words): Html {
  const { name: variable, label, example, oneOf, value, isGiven, isWrong } = shown
  const { isSecret = false, isMultiline = false, max = 255, helpUrl } = shown
  if (isGiven) return html`<p>${label}: <strong><bdi>${value}</bdi></strong></p>`
  const id = `value-${variable}`
  const note = `${id}-note`
  const fieldName = `${VALUE_PREFIX}${variable}`
  const invalid = isWrong ? html` aria-invalid="true"` : ''
  const secret = isSecret ? html` type="password" class="secret"` : html` value="${value}" dir="auto"`
  const common = html`id="${id}" name="${fieldName}" required maxlength="${max}" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="${note}"${invalid}`
  const control =
    oneOf === undefined
      ? isMultiline
        ? html`<textarea ${common} rows="5" dir="ltr">${isSecret ? '' : value}</textarea>`
        : html`<input ${common}${secret}>`
      : html`<select id="${id}" name="${fieldName}" required aria-describedby="${note}"${invalid}>
<option value="">${connect.choose}</option>
${oneOf.map((choice) => html`<option value="${choice}"${choice === value ? html` selected` : ''}>${choice}</option>`)}
</select>`
  return html`<label for="${id}">${label}</label>
${control}
<small id="${note}">${fieldNote()}${helpUrl !== undefined && html`${gap}<a href="${helpUrl}" target="_blank" rel="noopener noreferrer">${connect.typed.help}</a>`}</small>`

  function fieldNote(): Text {
    const field = name(label)
    const like = example === undefined ? undefined : name(example)
    if (!isWrong) return like === undefined ? '' : connect.suchAs({ example: like })
    if (value === '' && !isSecret) return connect.valueMissing({ label: field })
    return like === undefined
      ? connect.valueWrong({ label: field })
      : connect.valueWrongLike({ label: field, example: like })
  }
}

const DONE = html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="m4 12.5 5.5 5.5L20 7"/></svg>`

function progress({ step, steps }: ConnectView, { texts: { connect } }: Words): Html {
  return html`<p class="muted small">${connect.stepOf({ step: step + 1, steps: steps.length })}</p>
<ol class="steps">
${steps.map(({ providerName, done }, index) => {
  if (done)
    return html`<li class="done">${DONE}${name(providerName)}<span class="visually-hidden">${connect.stepDone}</span></li>`
  if (index === step) return html`<li aria-current="step">${name(providerName)}</li>`
  return html`<li>${name(providerName)}<span class="visually-hidden">${connect.stepToCome}</span></li>`
})}
</ol>`
}

function timeLeft({ expiresAt, now }: ConnectView, { texts: { connect } }: Words): Text {
  const minutes = Math.floor((expiresAt - now) / 60)
  return minutes < 1 ? connect.lessThanAMinute : connect.minutesLeft({ count: minutes })
}
