import type { Cause } from '../../domain/causes.ts'
import { BrokerError } from '../../domain/errors.ts'
import { ProviderRefusal } from '../../providers/provider-refusal.ts'
import type { SentRequest } from '../../providers/sent-requests.ts'
import type { RequestResult } from '../../services/provider-breaker.ts'
import type { GrantRefused, RefreshFailure, RefreshOutcome } from '../../services/refresh-table.ts'
import { alteredValue, UnsealError } from '../../store/seal.ts'

/**
 * Classifies the error that ended a refresh. `sent`: the requests that were sent. `spread` adds a random part to the
 * seconds of a Retry-After, so that not all connections are retried at once.
 */
export function failureOf(
  error: Error,
  sent: readonly SentRequest[],
  spread: (seconds: number) => number,
): RefreshFailure {
  if (error instanceof BrokerError) return { kind: 'broker_failed', error }
  // the client's secret was altered, so nothing was sent
  if (error instanceof UnsealError) return { kind: 'broker_failed', error: alteredValue(error) }
  if (!(error instanceof ProviderRefusal)) return { kind: 'unexpected', error }
  if (error.reason === 'invalid_grant') return { kind: 'grant_refused', refusal: error, sent }
  const { retryAfter } = error
  return {
    kind: 'provider_failed',
    refusal: error,
    sent,
    ...(retryAfter !== undefined && { retryAfterSeconds: spread(retryAfter) }),
  }
}

/**
 * Whether the refresh token may have been used. `answered`: certainly not, because the provider refused the request or
 * did not receive one. `unknown`: the answer was lost, so the token may have been used.
 */
export function outcomeOf(failure: RefreshFailure): 'answered' | 'unknown' {
  switch (failure.kind) {
    case 'grant_refused':
    case 'provider_failed':
      return failure.refusal.outcome
    case 'unexpected':
      return 'unknown'
    default:
      return 'answered'
  }
}

/**
 * The failure as a result for the circuit breaker. A refused grant is reported to the breaker by its `refused` instead.
 */
export function requestResultOf(failure: Exclude<RefreshFailure, GrantRefused>): RequestResult {
  if (failure.kind !== 'provider_failed') return 'not_sent'
  const { refusal, retryAfterSeconds } = failure
  if (refusal.trouble === 'outage') return 'outage'
  if (refusal.trouble === 'limit' && retryAfterSeconds !== undefined)
    return { limitedForSeconds: retryAfterSeconds }
  return 'answered'
}

/**
 * The answer for a caller when there is no usable token. Throws `token_request_refused` when the provider refused the
 * request for a reason that only an administrator can remove, and rethrows the broker's own errors.
 */
export function reportFailure(
  failure: RefreshFailure,
  retryAfter: number,
  cause: Cause | undefined,
): RefreshOutcome {
  const unavailable = (message: string) =>
    ({ outcome: 'provider_unavailable', message, retryAfter, ...(cause && { cause }) }) as const
  switch (failure.kind) {
    case 'broker_failed':
      throw failure.error
    case 'provider_failed':
      if (['invalid_client', 'invalid_scope', 'provider_refused'].includes(failure.refusal.reason))
        throw new BrokerError('token_request_refused', failure.refusal.message, {
          cause: failure.refusal,
          why: cause,
        })
      return unavailable(failure.refusal.message)
    case 'grant_refused':
      return unavailable(failure.refusal.message)
    case 'provider_paused':
      return unavailable(
        'The provider has problems, so no requests are sent to it for now. Try again shortly.',
      )
    case 'refreshed_elsewhere':
      return unavailable('The token is being refreshed by another process. Try again shortly.')
    case 'unexpected':
      return unavailable('The token cannot be refreshed right now. Try again shortly.')
  }
}

/** The error for the log, without any part of a token. */
export function loggedFailure(error: Error): object {
  return error instanceof ProviderRefusal
    ? { reason: error.reason, why: error.message }
    : { reason: error.name }
}
