import type { FailureReason } from '../domain/authorization.ts'
import { OutgoingError } from '../egress/outgoing.ts'
import { parseRetryAfter } from '../egress/retry-after.ts'
import { saying } from './provider-words.ts'
import { TokenResponseFault } from './token-response.ts'

/**
 * The provider refused a request, or its response is unusable. Only the reason `invalid_grant` concerns the grant itself.
 * The message is for people. Of what was sent or received, it holds only a sanitised error code and the provider's own
 * words, filtered by `wordsOf`.
 */
export class ProviderRefusal extends Error {
  readonly reason: FailureReason
  /** Seconds, from the provider's Retry-After. */
  readonly retryAfter: number | undefined
  /**
   * What became of the code or refresh token that was to be used: `answered`, it is surely unused, because nothing was
   * sent or the server said no; `unknown`, it may be used up.
   */
  readonly outcome: 'answered' | 'unknown'
  /** What the failure means for the whole server: it is down or failing, or it limits requests (429). */
  readonly trouble: 'outage' | 'limit' | undefined
  /** The provider's own words, made safe to show; the message contains them too. */
  readonly words: string | undefined
  /** The error code of the provider, made safe to show. */
  readonly code: string | undefined
  /** The claim of an ID token that was refused. */
  readonly claim: string | undefined
  /** The host may not be reached from here. */
  readonly isForbiddenHost: boolean

  constructor(reason: FailureReason, message: string, options: ProviderRefusalOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'ProviderRefusal'
    this.reason = reason
    this.retryAfter = options.retryAfter
    this.outcome = options.outcome ?? 'answered'
    this.trouble = options.trouble
    this.words = options.words
    this.code = options.code
    this.claim = options.claim
    this.isForbiddenHost = options.isForbiddenHost ?? false
  }
}

export interface ProviderRefusalOptions {
  readonly cause?: unknown
  readonly retryAfter?: number
  readonly outcome?: ProviderRefusal['outcome']
  readonly trouble?: ProviderRefusal['trouble']
  readonly words?: string | undefined
  readonly code?: string | undefined
  readonly claim?: string | undefined
  readonly isForbiddenHost?: boolean
}

const MAX_RETRY_AFTER_SECONDS = 300

/** What was observed of one request below openid-client, and secrets that its messages must not contain. */
export interface Seen {
  /** What is asked for, for messages. Default: `token`. */
  readonly asked?: string
  /** Whether the authorization request asked for an ID token. */
  readonly isIdTokenAsked?: boolean
  status?: number
  retryAfter?: number | undefined
  fault?: unknown
  idTokenClaims?: Readonly<Record<string, unknown>> | undefined
  extra?: Readonly<Record<string, unknown>>
  refreshExpiresIn?: number | undefined
  /** Secrets of the request, which must not appear in messages. */
  secrets?: readonly string[]
}

/** Classifies a failure: it concerns the grant, the client, or only this moment. */
export function refusalOf(
  provider: string,
  said: {
    readonly code?: string
    readonly message?: string
    readonly claim?: string | undefined
    readonly words?: string | undefined
  },
  seen: Seen & { readonly cause: unknown },
): ProviderRefusal {
  const { fault, retryAfter, status = 0, asked = 'token' } = seen
  const { words, claim } = said
  const code = said.code?.replace(/[^\x21-\x7e]/g, '?').slice(0, 100)
  const options = { cause: seen.cause, code, claim, ...(retryAfter !== undefined && { retryAfter }) }
  const say = (reason: FailureReason, message: string, more: ProviderRefusalOptions = {}) =>
    new ProviderRefusal(reason, `${message}${saying(provider, words)}`, { ...options, words, ...more })

  if (status === 429 || status >= 500) {
    // an explicit "later" means that the request was not executed; after another error it may have been
    const isAnswer = status === 429 || (status === 503 && retryAfter !== undefined)
    return say(
      'provider_unavailable',
      `${provider} cannot answer right now (HTTP ${status}). Try again shortly.`,
      { outcome: isAnswer ? 'answered' : 'unknown', trouble: status === 429 ? 'limit' : 'outage' },
    )
  }
  if (fault instanceof OutgoingError) {
    if (fault.kind === 'host_not_allowed')
      return say(
        'provider_refused',
        `The ${asked} endpoint of ${provider} may not be reached from here. An operator can allow its host in GATEPASS_ALLOWED_HOSTS.`,
        { isForbiddenHost: true },
      )
    const outcome = fault.requestSent ? 'unknown' : 'answered'
    if (fault.kind === 'given_up')
      return say('provider_unavailable', `${provider} was not asked. Try again shortly.`, { outcome })
    if (fault.kind === 'redirected' || fault.kind === 'too_large')
      return say('provider_bad_response', `${provider} gave an answer that cannot be used (${fault.kind}).`, {
        outcome,
      })
    return say(
      'provider_unavailable',
      `${provider} could not be reached (${fault.kind}). Try again shortly.`,
      // a full queue here says nothing about the server
      { outcome, ...(fault.kind !== 'busy' && { trouble: 'outage' }) },
    )
  }
  if (code !== undefined && fault === undefined) {
    switch (code) {
      case 'invalid_grant':
        return say(
          'invalid_grant',
          `${provider} no longer honors this grant (invalid_grant). The user must approve again.`,
        )
      case 'invalid_client':
      case 'unauthorized_client':
        return say(
          'invalid_client',
          `${provider} refused the client (${code}). Check the client id and secret of its entry.`,
        )
      case 'invalid_scope':
        return say(
          'invalid_scope',
          `${provider} refused the scopes (invalid_scope). Check which its entry may ask for.`,
        )
      case 'invalid_target':
        return say(
          'provider_refused',
          `${provider} refused the ${asked} request (invalid_target). Check audience and resource in the params of its entry's token_request.`,
        )
      case 'temporarily_unavailable':
      case 'server_error':
      case 'slow_down':
        return say(
          'provider_unavailable',
          `${provider} cannot answer right now (${code}). Try again shortly.`,
          { outcome: code === 'server_error' ? 'unknown' : 'answered', trouble: 'outage' },
        )
      default:
        return say('provider_refused', `${provider} refused the ${asked} request (${code}).`)
    }
  }
  const what = fault instanceof TokenResponseFault ? fault.message : (said.message ?? 'unreadable')
  return say('provider_bad_response', `${provider} gave an answer that cannot be used (${what}).`, {
    outcome: 'unknown',
  })
}

/** The refusal for a request that got no usable response: `provider_unavailable` only for what may pass later. */
export function refusalWithoutResponse(fault: OutgoingError): ProviderRefusal {
  const isPassing = fault.kind === 'unreachable' || fault.kind === 'timeout' || fault.kind === 'busy'
  const reason = isPassing ? 'provider_unavailable' : 'provider_refused'
  return new ProviderRefusal(reason, fault.message, { cause: fault })
}

/** The seconds that a provider's Retry-After asks to wait: 1 to 300; `undefined` if it cannot be read. */
export function retryAfterSeconds(value: string | undefined, now: number): number | undefined {
  const seconds = parseRetryAfter(value, now, MAX_RETRY_AFTER_SECONDS)
  return seconds === undefined ? undefined : Math.max(1, Math.ceil(seconds))
}
