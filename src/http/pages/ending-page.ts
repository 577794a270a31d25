import { html } from 'hono/html'
import type { FailureReason } from '../../domain/authorization.ts'
import type { Brand } from '../../domain/brand.ts'
import type { Cause } from '../../domain/causes.ts'
import { assetHref } from './assets.ts'
import { noteOf } from './connect-page.ts'
import type { EndingKind } from './ending-kinds.ts'
import { type Html, name, page, webUrl } from './layout.ts'
import { withCommands } from './mark-commands.ts'
import type { Texts } from './texts/generated/texts.ts'
import type { Text } from './texts/text.ts'
import type { Words } from './texts/words.ts'

export interface EndingView {
  readonly kind: EndingKind
  readonly providerName?: string | undefined
  readonly brand?: Brand | undefined
  /** The tool or application that asked. */
  readonly requester?: string | undefined
  readonly userId?: string | undefined
  /** The account's name at the provider. */
  readonly account?: string | undefined
  readonly reason?: FailureReason | undefined
  /** The authorization that the page names for the operator. */
  readonly authorizationId?: string | undefined
  /** Why it failed, with what the operator or the tool's author can change. */
  readonly cause?: Cause | undefined
  /** Scopes that were requested and not granted. */
  readonly notGranted?: readonly string[] | undefined
  /** What happened, in English, in place of the sentence of the kind. */
  readonly message?: string | undefined
  /** The account that was used before, if another one approved. */
  readonly previousAccount?: string | undefined
  readonly nextUri?: string | undefined
  /** The URL to which the button that starts again posts. */
  readonly again?: string | undefined
  /** In a popup that an application's page has opened: whether it closes at once or by a button. */
  readonly window?: 'closes' | 'has a button' | undefined
  /** The URL of this page, which may show more by now. */
  readonly lookAgain?: string | undefined
}

/** What happened, and what the reader can do. */
export interface Ending {
  readonly title: string
  readonly happened: string
  readonly todo: string
}

type Tone = 'good' | 'bad' | 'wait' | 'neutral'

const TONES = {
  completed: 'good',
  failed: 'bad',
  working: 'wait',
  waiting_for_confirmation: 'wait',
  confirmed: 'wait',
  confirmed_elsewhere: 'bad',
  wrong_browser: 'wait',
  held_elsewhere: 'bad',
  unknown_state: 'bad',
  wrong_provider: 'bad',
  unknown_login: 'bad',
  another_user: 'bad',
  login_cancelled: 'neutral',
  login_unavailable: 'bad',
  provider_unavailable: 'bad',
  login_failed: 'bad',
  not_found: 'bad',
  opened_elsewhere: 'bad',
  session_over: 'bad',
  other_origin: 'bad',
  foreign_click: 'bad',
  not_set_up: 'bad',
  refused_request: 'bad',
  arrival_over: 'bad',
  problem: 'bad',
} as const satisfies Record<EndingKind, Tone>

/** The user's own decision, which is nothing to be alarmed about. */
const DECLINED: FailureReason = 'access_denied'

/** These kinds are no failures, so their page gives no reason. */
const NO_REASON: ReadonlySet<EndingKind> = new Set([
  'completed',
  'working',
  'waiting_for_confirmation',
  'confirmed',
])

/** The code that a page names in place of its kind. */
const CODES: Partial<Record<EndingKind, string>> = { opened_elsewhere: 'wrong_browser' }

/** The page after a callback, a failure or a wait: it says what happened and what to do next. */
export function endingPage(view: EndingView, words: Words): Html {
  const { kind, reason, providerName, brand } = view
  const { endings } = words.texts
  const { title: ofKind, happened, todo } = endingWords(words.texts, kind, reason)
  const title =
    kind === 'completed' && providerName !== undefined
      ? endings.isConnected({ provider: providerName })
      : ofKind
  const tone = kind === 'failed' && reason === DECLINED ? 'neutral' : TONES[kind]
  const back = view.window === undefined ? nextLink(view, words) : undefined
  const message = words.language === 'en' ? view.message : undefined
  const body = html`<main>
<article class="card">
${sign(tone)}
<h1><bdi>${title}</bdi></h1>
<p>${message ?? completedSentence(view, words) ?? happened}</p>
${facts(shownFacts(view, words))}
${(kind !== 'completed' || back === undefined) && html`<p class="muted">${view.window === 'closes' ? endings.closesItself : todo}</p>`}
${(kind === 'completed' || kind === 'failed') && noteOf(brand?.note(`${kind}.note`, words.language))}
${actions(view, tone, back, words)}
${folded(view, words)}
</article>
</main>`
  return page(title, body, {
    words,
    ...(brand && { brand }),
    ...(view.window !== undefined && { script: assetHref('close.js') }),
  })
}

/** The title of the page, what happened, and what to do: each kind and each reason has its own. */
export function endingWords({ endings }: Texts, kind: EndingKind, reason?: FailureReason): Ending {
  return kind === 'failed' && reason !== undefined ? endings.failures[reason] : endings.kinds[kind]
}

function completedSentence(view: EndingView, { texts: { endings }, gap }: Words): Html | undefined {
  const { kind, requester, brand, providerName, previousAccount } = view
  if (kind !== 'completed' || providerName === undefined) return undefined
  const appName = brand?.appName ?? requester
  const app = appName === undefined ? undefined : name(appName)
  const before =
    previousAccount === undefined
      ? ''
      : html`${gap}${endings.anotherAccount({ before: name(previousAccount) })}`
  return html`${endings.canNowUse({ app, provider: name(providerName) })}${before}`
}

function againWords({ kind, providerName }: EndingView, { texts: { endings } }: Words): Text {
  if (kind === 'another_user') return endings.logInAsYourself
  return providerName === undefined
    ? endings.tryAgain
    : endings.startAgainAt({ provider: name(providerName) })
}

/** What someone other than the reader can change. Operators and authors of tools read it, so it is in English. */
function forOthers({ cause, authorizationId }: EndingView, { texts: { endings } }: Words): Html | false {
  const known = cause?.who === 'user' ? undefined : cause
  if (known === undefined && authorizationId === undefined) return false
  const reader = known?.who === 'tool_author' ? endings.forToolAuthor : endings.forOperator
  const steps = authorizationId && html` Each step: <code>gatepass explain ${authorizationId}</code>`
  return html`<p class="muted small">${reader}: <span lang="en" dir="ltr">${known && withCommands(`${known.message} ${known.toDo}`)}${steps && known && html`<br>`}${steps}</span></p>`
}

type Row = readonly [term: string, value: string | undefined]

/** What the user checks: whose account it was, and what is missing. */
function shownFacts(view: EndingView, { texts }: Words): readonly Row[] {
  const { facts: terms } = texts.endings
  return [
    [terms.account, view.account],
    [terms.notGranted, view.notGranted?.join(' ')],
  ]
}

function facts(rows: readonly Row[]): Html | false {
  const known = rows.flatMap(([term, value]) => (value === undefined ? [] : [[term, value] as const]))
  return (
    known.length > 0 &&
    html`<dl class="facts">${known.map(([term, value]) => html`<dt>${term}</dt><dd>${name(value)}</dd>`)}</dl>`
  )
}

/** What the operator and the author of the tool read, closed until the reader opens it. */
function folded(view: EndingView, words: Words): Html | false {
  const { kind, reason, cause } = view
  const { endings, connect } = words.texts
  const { facts: terms } = endings
  const about = facts([
    [terms.provider, view.providerName],
    [terms.askedBy, view.requester],
    [terms.user, view.userId],
  ])
  const others = forOthers(view, words)
  const code =
    !NO_REASON.has(kind) &&
    html`<p class="reason muted small">${endings.reason} <code>${reason ?? CODES[kind] ?? kind}</code>${cause !== undefined && cause.code !== reason && html` (<code>${cause.code}</code>)`}</p>`
  if (about === false && others === false && code === false) return false
  return html`<details class="small"><summary>${connect.details}</summary>
${about}
${others}
${code}</details>`
}

/** One button. If there are two ways on, the second is a link. */
function actions(view: EndingView, tone: Tone, back: Html | undefined, words: Words): Html | undefined {
  const { lookAgain, again, window } = view
  if (window !== undefined) return closeButton(window, words)
  if (lookAgain !== undefined)
    return html`<a class="button" href="${lookAgain}">${words.texts.endings.lookAgain}</a>`
  if (again === undefined) return back
  const retry = (style: string) =>
    html`<form method="post" action="${again}"><button${style && html` class="${style}"`} type="submit">${againWords(view, words)}</button></form>`
  // after a cancel, the way back comes before the way to begin again
  return back !== undefined && tone === 'neutral' ? html`${back}${retry('link')}` : html`${retry('')}${back}`
}

function nextLink({ kind, nextUri, brand }: EndingView, { texts: { endings } }: Words): Html | undefined {
  const app = brand?.appName
  const url = webUrl(nextUri ?? (kind === 'working' ? undefined : brand?.appUrl))
  return (
    url &&
    html`<a class="button" href="${url.href}">${endings.backTo({ app: app === undefined ? undefined : name(app) })}</a>`
  )
}

function closeButton(window: EndingView['window'], { texts: { endings } }: Words): Html {
  return html`<p><button type="button" data-close="${window === 'closes' ? 'now' : 'click'}">${endings.closeWindow}</button></p>`
}

export function sign(tone: Tone): Html {
  const inside = {
    good: html`<path d="m7.5 12.5 3 3 6-6.5"/>`,
    bad: html`<path d="M12 7v6"/><path d="M12 16.5v.01"/>`,
    wait: html`<path d="M12 7v5l3 2"/>`,
    neutral: html`<path d="M8 12h8"/>`,
  }
  return html`<svg class="sign ${tone}" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><circle cx="12" cy="12" r="10"/>${inside[tone]}</svg>`
}
