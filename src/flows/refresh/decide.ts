import type { EpochSeconds } from '../../domain/clock.ts'
import {
  type Connection,
  isAlive,
  isRefreshTokenExpired,
  type NeedsAuthorizationReason,
} from '../../domain/connection.ts'
import { type Provider, rotationOf } from '../../providers/provider.ts'
import { asksForTokens, isInstalled } from '../../providers/provider-grant.ts'
import { refusedBecause } from '../../providers/refused-grant.ts'
import type { Refreshed as RefreshMetric } from '../../services/metrics.ts'
import type { CoolDown, GrantRefused, RefreshFailure } from '../../services/refresh-table.ts'
import { outcomeOf } from './failure.ts'
import type { AnsweredRefresh } from './store-refreshed.ts'

/** The result of the last step of a refresh. */
export type Situation =
  | { readonly at: 'row_read' }
  /** The circuit breaker holds back requests to the provider for this long. */
  | { readonly at: 'provider_paused'; readonly seconds: number }
  /** Another process holds the lease. */
  | { readonly at: 'lease_held' }
  /** This process was suspended for too long after it took the lease, so it sent nothing. */
  | { readonly at: 'lease_lapsed'; readonly leaseOwner: string }
  /** The stored tokens cannot be decrypted, so nothing was sent. */
  | { readonly at: 'tokens_unreadable' }
  /** Whether tokens are bound to a key was changed in the entry since the consent, so nothing was sent. */
  | { readonly at: 'dpop_changed' }
  | { readonly at: 'failed'; readonly failure: RefreshFailure; readonly leaseOwner: string }
  /** The provider refused the grant, but another refresh or consent replaced the tokens meanwhile. */
  | { readonly at: 'refusal_superseded' }
  /** The provider refused the grant, and the refused tokens are still stored. */
  | {
      readonly at: 'refusal_checked'
      readonly failure: GrantRefused
      readonly leaseOwner: string
      readonly verdict: 'believed' | 'doubted'
    }
  | { readonly at: 'backed_off'; readonly coolDown: CoolDown }
  /** The refusal of a typed credential was noted; the API has refused it since this time. */
  | { readonly at: 'refusal_counted'; readonly since: EpochSeconds }
  | { readonly at: 'answered'; readonly answer: AnsweredRefresh }

/** The result of a step, with the connection as that step found it. */
export interface StepResult {
  readonly connection: Connection | undefined
  readonly situation: Situation
}

/** What `decide` knows besides the connection. */
export interface RefreshRequest {
  readonly situation: Situation
  /** `Connection.generation` of the tokens that the caller found too old. Newer tokens answer the request. */
  readonly foundGeneration: number
  /**
   * Where a resource server rejected the caller's access token: whether that token is still the stored one. The stored
   * token is then no answer when the refresh fails.
   */
  readonly rejectedToken?: 'stored' | 'replaced'
  /** Whether the caller waits while another process refreshes. */
  readonly waits: boolean
  /** Milliseconds since the refresh began. */
  readonly elapsedMs: number
  readonly provider: Pick<
    Provider,
    'grant' | 'refreshRequest' | 'renewalRequest' | 'rotation' | 'strictRotation' | 'credentials' | 'oauth1'
  >
  /** The cool-down that the connection's tokens are in after a failed refresh. */
  readonly coolDown?: CoolDown | undefined
}

/** The next step of a refresh. The first four end it. */
export type Decision =
  /** Answer with the stored token. `coolDown` is started then, so that the next callers do not wait as this one did. */
  | { readonly next: 'use_token'; readonly connection: Connection; readonly coolDown?: CoolDown }
  | { readonly next: 'require_authorization' }
  | { readonly next: 'report_failure'; readonly failure: RefreshFailure; readonly retryAfterSeconds: number }
  /** Note that the API refused the typed credential, which nothing can replace but its user. */
  | { readonly next: 'count_refusal'; readonly connection: Connection }
  /** Store the tokens that the provider answered with. */
  | { readonly next: 'store'; readonly answer: AnsweredRefresh }
  /** Ask the user for a new consent; with `leaseOwner` only if this process still holds the lease. */
  | {
      readonly next: 'mark_unusable'
      readonly connection: Connection
      readonly reason: NeedsAuthorizationReason
      readonly leaseOwner?: string
      readonly countAs?: RefreshMetric
    }
  /** Take the lease and send the refresh token. */
  | { readonly next: 'send'; readonly connection: Connection }
  /** Wait until the connection changes, then read it again. */
  | { readonly next: 'wait' }
  /** Release the lease, then read the connection again. */
  | { readonly next: 'release_lease'; readonly leaseOwner: string }
  /** Find out whether the refusal concerns the tokens that are stored now, and whether it is believed. */
  | {
      readonly next: 'check_refusal'
      readonly connection: Connection
      readonly failure: GrantRefused
      readonly leaseOwner: string
    }
  /** Start the cool-down and release the lease; `outcome` says whether the refresh token may have been used. */
  | {
      readonly next: 'back_off'
      readonly connection: Connection
      readonly coolDown: CoolDown
      readonly leaseOwner: string
      readonly outcome: 'answered' | 'unknown'
      readonly countAs: RefreshMetric
    }

/** The cool-down after a failure, unless the provider sent Retry-After; doubled while the outcome stays unknown. */
const COOL_DOWN_SECONDS = 5
const LONGEST_COOL_DOWN_SECONDS = 60
/** The cool-down after a refusal that is not believed. */
const DOUBTED_SECONDS = 30
/** A token that is rejected again this soon after it was received would be rejected after the next refresh too. */
const JUST_RECEIVED_SECONDS = 10
/**
 * One refusal of a typed credential, or of a token of OAuth 1.0a, may be about a single endpoint, or a fault of the API: a second one, this long after
 * the first, is believed.
 */
const BELIEVED_AFTER_SECONDS = 60
/** How long a caller waits for another process: with no token to answer with, and with one that is still alive. */
const WAIT_MS = 12_000
const WAIT_WHILE_ALIVE_MS = 2_000

/** Decides the next step of a refresh. Pure: the table in test/flows/refresh-decide.test.ts has every row. */
export function decide(
  connection: Connection | undefined,
  request: RefreshRequest,
  now: EpochSeconds,
): Decision {
  if (connection?.status !== 'active') return { next: 'require_authorization' }
  const { situation } = request
  switch (situation.at) {
    case 'row_read':
      return decideByRow(connection, request, now)
    case 'provider_paused':
      return afterFailure(
        connection,
        request,
        { until: now + situation.seconds, failure: { kind: 'provider_paused' } },
        now,
      )
    case 'lease_held':
      return decideWhileLeaseIsHeld(connection, request, now)
    case 'lease_lapsed':
      return { next: 'release_lease', leaseOwner: situation.leaseOwner }
    case 'tokens_unreadable':
      return { next: 'mark_unusable', connection, reason: 'unreadable' }
    case 'dpop_changed':
      return { next: 'mark_unusable', connection, reason: 'provider_changed' }
    case 'failed':
      return decideAfterFailure(connection, situation, request, now)
    case 'refusal_superseded':
      return { next: 'use_token', connection }
    case 'refusal_checked':
      return decideAfterRefusal(connection, situation, request, now)
    case 'backed_off':
      return afterFailure(connection, request, situation.coolDown, now)
    case 'refusal_counted':
      return now - situation.since < BELIEVED_AFTER_SECONDS
        ? { next: 'use_token', connection }
        : {
            next: 'mark_unusable',
            connection,
            reason: request.provider.oauth1 === undefined ? 'credential_refused' : 'consent_withdrawn',
          }
    case 'answered':
      return { next: 'store', answer: situation.answer }
  }
}

function decideByRow(connection: Connection, request: RefreshRequest, now: EpochSeconds): Decision {
  const { rejectedToken, foundGeneration, provider, coolDown } = request
  const useToken = { next: 'use_token', connection } as const
  const age = now - connection.receivedAt
  if (rejectedToken === 'replaced') return useToken
  if (rejectedToken === 'stored' && age >= 0 && age < JUST_RECEIVED_SECONDS) return useToken
  if (isUsable(connection, request, now) && connection.generation !== foundGeneration) return useToken
  const isCounted = provider.credentials !== undefined || provider.oauth1 !== undefined
  if (isCounted && rejectedToken === 'stored' && cannotBeRefreshed(connection, provider, now))
    return { next: 'count_refusal', connection }
  if (cannotBeRefreshed(connection, provider, now))
    return isAlive(connection, now)
      ? useToken
      : { next: 'mark_unusable', connection, reason: 'token_expired' }
  // sending a refresh token that may have been used could end the access token too, and one that should have expired is
  // probably refused: while the access token works, neither is sent
  const isBetterKept = isRiskyToRepeat(connection, provider, now) || isRefreshTokenExpired(connection, now)
  if (isUsable(connection, request, now) && isBetterKept) return useToken
  // if the grant was refused while the token was alive, and now the token is rejected too, the refusal is checked once more
  const isCheckedAgain = rejectedToken !== undefined && coolDown?.failure.kind === 'grant_refused'
  if (coolDown !== undefined && !isCheckedAgain) return afterFailure(connection, request, coolDown, now)
  return { next: 'send', connection }
}

/**
 * Whether no request for new tokens can be sent. An expired refresh token is no reason, because its expiry is computed: a
 * clock or an entry may be wrong, and only the provider's refusal ends a grant.
 */
function cannotBeRefreshed(
  connection: Connection,
  provider: RefreshRequest['provider'],
  now: EpochSeconds,
): boolean {
  const { refreshRequest, renewalRequest } = provider
  if (asksForTokens(provider)) return false
  if (renewalRequest === undefined) return connection.refresh === undefined || refreshRequest === undefined
  return now - connection.receivedAt < renewalRequest.leastAgeSeconds || !isAlive(connection, now)
}

/** Whether the refresh token may have been used already, at a server that then ends the whole grant. */
function isRiskyToRepeat(
  { unansweredRefreshes, unansweredSince }: Connection,
  provider: RefreshRequest['provider'],
  now: EpochSeconds,
): boolean {
  const rotation = rotationOf(provider)
  if (unansweredRefreshes === 0 || rotation === undefined || rotation.kind === 'none') return false
  return rotation.kind === 'single_use' || now >= (unansweredSince ?? 0) + rotation.graceSeconds
}

function decideWhileLeaseIsHeld(
  connection: Connection,
  request: RefreshRequest,
  now: EpochSeconds,
): Decision {
  const { waits, elapsedMs } = request
  const longestMs = isUsable(connection, request, now) ? WAIT_WHILE_ALIVE_MS : WAIT_MS
  if (waits && elapsedMs < longestMs) return { next: 'wait' }
  const coolDown = { until: now + COOL_DOWN_SECONDS, failure: { kind: 'refreshed_elsewhere' } } as const
  const decision = afterFailure(connection, request, coolDown, now)
  // the process that holds the lease may have died, so the next callers do not wait for it too
  return decision.next === 'use_token' && waits ? { ...decision, coolDown } : decision
}

function decideAfterFailure(
  connection: Connection,
  { failure, leaseOwner }: Extract<Situation, { at: 'failed' }>,
  request: RefreshRequest,
  now: EpochSeconds,
): Decision {
  if (failure.kind === 'grant_refused') return { next: 'check_refusal', connection, failure, leaseOwner }
  return {
    next: 'back_off',
    connection,
    coolDown: { until: now + coolDownSeconds(connection, request, failure), failure },
    leaseOwner,
    outcome: outcomeOf(failure),
    countAs: outcomeOf(failure) === 'unknown' ? 'lost' : 'unavailable',
  }
}

/**
 * Whether the refresh token that was just sent had been sent before, and the provider may have replaced it then: the
 * answer was lost, or the database was restored from an older backup. A refusal of this retry is to be expected.
 */
export function wasRetry(claimed: Connection, provider: RefreshRequest['provider']): boolean {
  return claimed.unansweredRefreshes > 1 && rotationOf(provider)?.kind !== 'none'
}

/** Only a refusal of the grant may cost the user a consent, and only once the access token is of no use. */
function decideAfterRefusal(
  connection: Connection,
  { failure, leaseOwner, verdict }: Extract<Situation, { at: 'refusal_checked' }>,
  request: RefreshRequest,
  now: EpochSeconds,
): Decision {
  if (verdict === 'believed' && !isUsable(connection, request, now)) {
    const isLost = wasRetry(connection, request.provider)
    return {
      next: 'mark_unusable',
      connection,
      reason:
        request.provider.credentials !== undefined
          ? 'credential_refused'
          : isInstalled(request.provider)
            ? 'installation_removed'
            : isLost
              ? 'refresh_outcome_lost'
              : reasonOf(failure, connection, now),
      leaseOwner,
      countAs: isLost ? 'lost' : 'refused',
    }
  }
  const coolDown: CoolDown =
    verdict === 'doubted'
      ? { until: now + DOUBTED_SECONDS, failure: { kind: 'provider_paused' } }
      : // the refusal takes effect when the access token expires
        { until: connection.expiresAt ?? now + COOL_DOWN_SECONDS, failure }
  return {
    next: 'back_off',
    connection,
    coolDown,
    leaseOwner,
    outcome: outcomeOf(failure),
    countAs: 'refused',
  }
}

/** The reason by the provider's own words, if they name one; else by the expiry of the refresh token. */
function reasonOf(
  { refusal }: GrantRefused,
  connection: Connection,
  now: EpochSeconds,
): NeedsAuthorizationReason {
  const because = refusedBecause(refusal.words)
  if (because === 'withdrawn') return 'consent_withdrawn'
  const isExpired = because === 'expired' || (because === undefined && isRefreshTokenExpired(connection, now))
  return isExpired ? 'refresh_token_expired' : 'refresh_refused'
}

/** The answer after a failure that says nothing about the grant: the stored token while it is usable. */
function afterFailure(
  connection: Connection,
  request: RefreshRequest,
  { until, failure }: CoolDown,
  now: EpochSeconds,
): Decision {
  if (isUsable(connection, request, now)) return { next: 'use_token', connection }
  return { next: 'report_failure', failure, retryAfterSeconds: Math.max(1, until - now) }
}

/** Whether the stored token may be handed out although it was not refreshed. */
function isUsable(connection: Connection, { rejectedToken }: RefreshRequest, now: EpochSeconds): boolean {
  return rejectedToken === undefined && isAlive(connection, now)
}

/**
 * The cool-down that the provider asked for; else a short one at first. Many providers accept a used refresh token for a
 * grace period, so the first attempts after a lost answer follow closely.
 */
function coolDownSeconds(
  { unansweredRefreshes }: Connection,
  { rejectedToken }: RefreshRequest,
  failure: RefreshFailure,
): number {
  if (failure.kind === 'provider_failed' && failure.retryAfterSeconds !== undefined)
    return failure.retryAfterSeconds
  const doublings = outcomeOf(failure) === 'unknown' ? unansweredRefreshes - 1 : 0
  const seconds = Math.min(COOL_DOWN_SECONDS * 2 ** doublings, LONGEST_COOL_DOWN_SECONDS)
  return rejectedToken === undefined ? seconds : Math.max(seconds, JUST_RECEIVED_SECONDS)
}
