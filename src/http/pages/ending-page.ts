import { html } from 'hono/html'
import type { FailureReason } from '../../domain/authorization.ts'
import type { Cause } from '../../domain/causes.ts'
import { type EndingKind, endingTitle, wordsFor } from './ending-words.ts'
import { type Html, name, page, webUrl } from './layout.ts'

export interface EndingView {
  readonly kind: EndingKind
  /** Replaces `endingTitle`. */
  readonly title?: string | undefined
  readonly providerName?: string | undefined
  readonly requester?: string | undefined
  readonly userId?: string | undefined
  /** The account's name at the provider. */
  readonly account?: string | undefined
  readonly reason?: FailureReason | undefined
  /** Why it failed, with what the operator or the tool's author can change. */
  readonly cause?: Cause | undefined
  /** Scopes that were asked for and not granted. */
  readonly notGranted?: readonly string[] | undefined
  /** What happened. When it is empty, the page has the sentence of its kind. */
  readonly message: string
  readonly nextUri?: string | undefined
  /** The URL to which the button that starts again posts. */
  readonly again?: string | undefined
}

type Tone = 'good' | 'bad' | 'wait'

const TONES = {
  completed: 'good',
  failed: 'bad',
  working: 'wait',
  waiting_for_confirmation: 'wait',
  confirmed: 'wait',
  confirmed_elsewhere: 'bad',
  wrong_browser: 'wait',
  unknown_state: 'bad',
  wrong_provider: 'bad',
  unknown_login: 'bad',
  another_user: 'bad',
  login_cancelled: 'wait',
  login_unavailable: 'bad',
  login_failed: 'bad',
  not_found: 'bad',
  problem: 'bad',
} as const satisfies Record<EndingKind, Tone>

/** These kinds are no failures, so their page gives no reason. */
const NO_REASON: ReadonlySet<EndingKind> = new Set([
  'completed',
  'working',
  'waiting_for_confirmation',
  'confirmed',
])

/** The page after a callback, a failure or a wait: it says what happened and what to do next. */
export function endingPage(view: EndingView): Html {
  const { kind, reason, providerName } = view
  const { happened, todo } = wordsFor(kind, reason)
  const title = view.title ?? headingFor(kind, reason, providerName)
  const tone = TONES[kind]
  const body = html`<main>
<article class="card">
${sign(tone)}
<h1><bdi>${title}</bdi></h1>
<p>${view.message === '' ? (completedSentence(view) ?? happened) : view.message}</p>
${facts(view)}
${kind === 'completed' ? html`<p>${todo}</p>` : html`<h2>What to do</h2><p>${todo}</p>`}
${nextLink(view.nextUri)}
${view.again !== undefined && html`<form method="post" action="${view.again}"><button type="submit">${againWords(view)}</button></form>`}
${forOthers(view.cause)}
${!NO_REASON.has(kind) && html`<p class="reason muted small">Reason: <code>${reason ?? kind}</code>${view.cause !== undefined && view.cause.code !== reason && html` (<code>${view.cause.code}</code>)`}</p>`}
</article>
</main>`
  return page(title, body, kind === 'working' ? { refreshSeconds: 2 } : {})
}

function headingFor(
  kind: EndingKind,
  reason: FailureReason | undefined,
  provider: string | undefined,
): string {
  return kind === 'completed' && provider !== undefined
    ? `${provider} is connected`
    : endingTitle(kind, reason)
}

function completedSentence({ kind, requester, providerName }: EndingView): Html | undefined {
  if (kind !== 'completed' || requester === undefined || providerName === undefined) return undefined
  return html`${name(requester)} can now use your ${name(providerName)} account.`
}

function againWords({ kind, providerName }: EndingView): Html | string {
  if (kind === 'another_user') return 'Log in as yourself'
  return providerName === undefined ? 'Try again' : html`Start again at ${name(providerName)}`
}

const FOR = {
  operator: 'For whoever runs this service',
  tool_author: 'For whoever wrote the tool',
} as const

/** What others than the reader can change. */
function forOthers(cause: Cause | undefined): Html | false {
  if (cause === undefined || cause.who === 'user') return false
  return html`<p class="muted small">${FOR[cause.who]}: ${cause.message} ${cause.toDo}</p>`
}

function facts({ providerName, account, notGranted, requester, userId }: EndingView): Html | false {
  const rows: [string, string | undefined][] = [
    ['Provider', providerName],
    ['Account', account],
    ['Not granted', notGranted?.join(' ')],
    ['Asked by', requester],
    ['User', userId],
  ]
  const known = rows.filter((row): row is [string, string] => row[1] !== undefined)
  return (
    known.length > 0 &&
    html`<dl class="facts">${known.map(([term, value]) => html`<dt>${term}</dt><dd>${name(value)}</dd>`)}</dl>`
  )
}

function nextLink(nextUri: string | undefined): Html | undefined {
  const url = webUrl(nextUri)
  return url && html`<a class="button" href="${url.href}">Go on to ${url.host}</a>`
}

function sign(tone: Tone): Html {
  const inside = {
    good: html`<path d="m7.5 12.5 3 3 6-6.5"/>`,
    bad: html`<path d="M12 7v6"/><path d="M12 16.5v.01"/>`,
    wait: html`<path d="M12 7v5l3 2"/>`,
  }
  return html`<svg class="sign ${tone}" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><circle cx="12" cy="12" r="10"/>${inside[tone]}</svg>`
}
