import { html } from 'hono/html'
import type { FailureReason } from '../../domain/authorization.ts'
import { type Html, name, page, webUrl } from './layout.ts'

export const ENDING_KINDS = [
  'completed',
  'failed',
  'working',
  'waiting_for_confirmation',
  'confirmed',
  'confirmed_elsewhere',
  'wrong_browser',
  'unknown_state',
  'wrong_provider',
  'unknown_login',
  'login_cancelled',
  'login_unavailable',
  'login_failed',
  'not_found',
  'problem',
] as const
export type EndingKind = (typeof ENDING_KINDS)[number]

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
  /** What happened. When it is empty, the page has the sentence of its kind. */
  readonly message: string
  readonly nextUri?: string | undefined
  /** The URL to which the button that starts again posts. */
  readonly again?: string | undefined
}

type Tone = 'good' | 'bad' | 'wait'

interface Words {
  readonly title: string
  readonly happened: string
  readonly todo: string
}

const AGAIN = 'go back to your application and start again: it gives you a new link'

const FAILURES = {
  access_denied: {
    title: 'Access was not approved',
    happened: 'The request was refused at the provider.',
    todo: `Nothing was stored. If you did not mean to refuse, ${AGAIN}.`,
  },
  expired: {
    title: 'This link has expired',
    happened: 'The link was not used in time.',
    todo: `To connect after all, ${AGAIN}. Open it soon after you get it.`,
  },
  user_mismatch: {
    title: 'This link was meant for someone else',
    happened: 'Whoever is signed in is not the user for whom the link was made.',
    todo: 'Nothing was stored. If someone sent you this link, do not use it. If it is yours, sign in as yourself and ask your application for a new link.',
  },
  issuer_mismatch: {
    title: 'The answer came from somewhere else',
    happened: 'The answer did not come from the provider that was asked, so it was not used.',
    todo: 'Nothing was stored. Go back to your application and start again. If it happens twice, tell whoever runs this service and do not go on.',
  },
  invalid_scope: {
    title: 'These permissions are not available',
    happened: 'The provider does not give the permissions that were asked for.',
    todo: 'Starting again will not help. Tell whoever runs this service: the permissions of the tool or of the provider entry have to be changed.',
  },
  invalid_client: {
    title: 'This service is not registered properly',
    happened: 'The provider does not accept this service’s registration.',
    todo: 'You did nothing wrong. Tell whoever runs this service: the client id, the secret or the redirect URI of the provider entry has to be put right.',
  },
  invalid_grant: {
    title: 'The approval was not valid any more',
    happened: 'The provider did not accept the approval that it had just given.',
    todo: `This happens when the way back took too long or was used twice. To try once more, ${AGAIN}.`,
  },
  provider_refused: {
    title: 'The provider refused the request',
    happened: 'The provider refused the request.',
    todo: 'Go back to your application and start again. If it stays so, tell whoever runs this service and name the reason below.',
  },
  provider_bad_response: {
    title: 'The provider’s answer could not be used',
    happened: 'The provider answered with something that could not be used.',
    todo: 'Go back to your application and start again. If it stays so, tell whoever runs this service and name the reason below.',
  },
  provider_unavailable: {
    title: 'The provider is not available',
    happened: 'The provider could not be reached or has a problem of its own.',
    todo: `You did nothing wrong. Wait a few minutes, then ${AGAIN}.`,
  },
  provider_changed: {
    title: 'The provider’s settings have changed',
    happened: 'The provider was changed here while you were away, so the answer was not used.',
    todo: `To connect with the new settings, ${AGAIN}.`,
  },
  account_mismatch: {
    title: 'Another account approved',
    happened: 'The account that approved is not the one that was asked for.',
    todo: `Nothing was stored. To connect the right account, ${AGAIN}, and choose that account at the provider.`,
  },
} as const satisfies Record<FailureReason, Words>

const KINDS = {
  completed: {
    title: 'Connected',
    happened: 'Access was approved.',
    todo: 'You may close this window and go back to your application.',
  },
  failed: {
    title: 'Not connected',
    happened: 'The account could not be connected.',
    todo: `To try once more, ${AGAIN}.`,
  },
  working: {
    title: 'Finishing…',
    happened: 'Your approval has arrived and is being finished.',
    todo: 'Nothing to do: this page looks again by itself every two seconds.',
  },
  waiting_for_confirmation: {
    title: 'Waiting for your application',
    happened: 'Your approval has arrived. Your application has yet to confirm that it was you who approved.',
    todo: 'Go on in your application; sign in there if it asks you to. Nothing is stored before that. If its page is gone, start again.',
  },
  confirmed: {
    title: 'Go on in your application',
    happened:
      'Your application has confirmed that it was you who approved, and sends you on from its own page.',
    todo: 'Go on in your application. Nothing is stored before that. If its page is gone, start again.',
  },
  confirmed_elsewhere: {
    title: 'This was approved in another browser',
    happened:
      'Your application has confirmed that it is you, but “Continue” was clicked in another browser than this one.',
    todo: 'Nothing was stored. If it was you who clicked, open the link again in this browser and start here. If someone sent you the address, close this page: it was not your account that was approved.',
  },
  wrong_browser: {
    title: 'Please go on in the other browser',
    happened:
      'The provider’s answer was opened in another browser than the one in which you clicked “Continue”.',
    todo: 'Nothing was stored. Go back to the browser in which you clicked, or open the link again in this one and start here.',
  },
  unknown_state: {
    title: 'This answer belongs to no open request',
    happened: 'The request was ended by a newer click, is over already, or never existed.',
    todo: `Nothing was stored. If you have a newer window, go on there. Otherwise ${AGAIN}.`,
  },
  wrong_provider: {
    title: 'This answer came to the wrong address',
    happened: 'The answer came back at the address of another provider than the one that was asked.',
    todo: 'Nothing was stored. Go back to your application and start again. If it happens twice, tell whoever runs this service and do not go on.',
  },
  unknown_login: {
    title: 'This login was not started here',
    happened: 'It was started in another browser or too long ago, or it is over already.',
    todo: 'Nothing was stored. Go on in the browser in which you clicked “Continue”, or open the link again in this one. If someone sent you this address, close this page.',
  },
  login_cancelled: {
    title: 'You did not log in',
    happened: 'The login was cancelled or refused, so it is not certain that this is you.',
    todo: 'Nothing was stored, and the link can still be used. To go on, try again and log in as yourself. If you did not mean to connect anything, close this page.',
  },
  login_unavailable: {
    title: 'You cannot log in right now',
    happened: 'The service where you log in could not be reached or has a problem of its own.',
    todo: 'You did nothing wrong, and the link can still be used. Wait a moment and try again. If it stays so, tell whoever runs this service.',
  },
  login_failed: {
    title: 'The login did not work',
    happened: 'The service where you log in answered with something that could not be used.',
    todo: 'Nothing was stored, and the link can still be used. Try again. If it stays so, tell whoever runs this service: the reason is in its log.',
  },
  not_found: {
    title: 'This page does not exist',
    happened: 'The link is incomplete, or it belongs to a request that is no longer kept.',
    todo: 'Check that you opened the whole link. If you did, go back to your application and ask for a new one.',
  },
  problem: {
    title: 'Something went wrong',
    happened: 'The request could not be carried out.',
    todo: 'Try again in a moment. If it stays so, tell whoever runs this service.',
  },
} as const satisfies Record<EndingKind, Words>

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

/** The heading of the page. Every kind and every reason has its own. */
export function endingTitle(kind: EndingKind, reason?: FailureReason): string {
  return wordsFor(kind, reason).title
}

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
${view.again !== undefined && html`<form method="post" action="${view.again}"><button type="submit">${providerName === undefined ? 'Try again' : html`Start again at ${name(providerName)}`}</button></form>`}
${!NO_REASON.has(kind) && html`<p class="reason muted small">Reason: <code>${reason ?? kind}</code></p>`}
</article>
</main>`
  return page(title, body, kind === 'working' ? { refreshSeconds: 2 } : {})
}

function wordsFor(kind: EndingKind, reason: FailureReason | undefined): Words {
  return kind === 'failed' && reason !== undefined ? FAILURES[reason] : KINDS[kind]
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

function facts({ providerName, account, requester, userId }: EndingView): Html | false {
  const rows: [string, string | undefined][] = [
    ['Provider', providerName],
    ['Account', account],
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
