import type { Broker } from '../broker.ts'
import { type Connection, isAlive } from '../domain/connection.ts'
import { BrokerError } from '../domain/errors.ts'
import type { ProviderEntry } from '../providers/provider.ts'
import { ProviderRefusal } from '../providers/provider-refusal.ts'
import type { Ending } from '../services/provider-breaker.ts'
import { AUTHORIZATION_REQUIRED, type RefreshOutcome } from '../services/refresh-outcome.ts'
import type { CoolDown } from '../services/refresh-table.ts'
import { UnsealError } from '../store/seal.ts'
import { markUnusable } from './mark-unusable.ts'

/** How long a failed refresh is not tried again, unless the provider said; doubled while its outcome stays unknown. */
export const COOL_DOWN_SECONDS = 5
const LONGEST_COOL_DOWN_SECONDS = 60
const HELD_SECONDS = 30
/** A token that is refused again so soon will be refused after the next refresh too. */
export const REJECTED_SECONDS = 10
export const HELD_BACK = new Error('The provider is in trouble and not asked for now. Try again shortly.')
export const ELSEWHERE = new Error('The token is being refreshed by another process. Try again shortly.')

/**
 * After a failure: only a refusal of the grant can cost the user a consent, and not while the token lives, when other
 * tokens stand by now, or when the provider refuses so many that it must be its own fault. `undefined`: the refusal came
 * so late that another process is refreshing the same tokens, whose answer is the one that counts.
 */
export async function settleFailure(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
  leaseOwner: string,
  failure: Error,
  rejected: string | undefined,
): Promise<RefreshOutcome | undefined> {
  const { refreshes, metrics } = broker
  const { breaker } = refreshes
  const { id, generation, unansweredRefreshes } = connection
  const reason = failure instanceof ProviderRefusal ? failure.reason : failure.name
  const why = failure instanceof ProviderRefusal && { why: failure.message }
  broker.log.warn({ connection: id, provider: entry.id, reason, ...why }, 'a refresh failed')

  if (failure instanceof UnsealError) {
    breaker.ended(entry, id, 'nothing')
    await markUnusable(broker, entry, connection, 'unreadable')
    return AUTHORIZATION_REQUIRED
  }
  const pauseSeconds = coolDownSeconds(broker, connection, failure, rejected)
  let coolDown = { until: broker.now() + pauseSeconds, failure }
  if (isRefusalOfGrant(failure)) {
    const current = await broker.store.connections.find(id)
    if (current?.generation !== generation || current.status !== 'active') {
      // another answer won, and made this refresh token an old one
      breaker.ended(entry, id, 'answered')
      metrics.refreshed(entry.id, current === undefined ? 'revoked_meanwhile' : 'superseded')
      return current?.status === 'active'
        ? { outcome: 'usable', connection: current }
        : AUTHORIZATION_REQUIRED
    }
    if ((await broker.store.connections.leaseLeft(id, generation, leaseOwner, broker.now())) === undefined) {
      breaker.ended(entry, id, 'answered')
      return undefined
    }
    const verdict = breaker.refused(entry, id)
    const alive = rejected === undefined && isAlive(connection, broker.now())
    if (verdict === 'believed' && !alive) {
      const isLost = unansweredRefreshes > 1
      metrics.refreshed(entry.id, isLost ? 'lost' : 'refused')
      const why = isLost ? 'refresh_outcome_lost' : 'refresh_refused'
      if (!(await markUnusable(broker, entry, connection, why, leaseOwner))) return undefined
      return AUTHORIZATION_REQUIRED
    }
    coolDown =
      verdict === 'held'
        ? { until: broker.now() + HELD_SECONDS, failure: HELD_BACK }
        : // believed when the token ends, and no later
          { until: connection.expiresAt ?? broker.now() + COOL_DOWN_SECONDS, failure }
    metrics.refreshed(entry.id, 'refused')
  } else {
    breaker.ended(entry, id, endingOf(failure, pauseSeconds))
    metrics.refreshed(entry.id, outcomeOf(failure) === 'unknown' ? 'lost' : 'unavailable')
  }
  refreshes.coolDown(connection, coolDown)
  await broker.store.connections
    .releaseRefresh(id, leaseOwner, outcomeOf(failure))
    .catch((error: unknown) => {
      // the lease lapses by itself, and counts as unanswered
      broker.log.error({ connection: id, error: nameOf(error) }, 'a refresh lease could not be given back')
    })
  return answerFailure(broker, connection, coolDown, rejected)
}

/** What a caller gets after a failure that says nothing of the grant: the old token while it lives, else "later". */
export function answerFailure(
  broker: Broker,
  connection: Connection,
  { until, failure }: CoolDown,
  rejected: string | undefined,
): RefreshOutcome {
  const now = broker.now()
  if (rejected === undefined && isAlive(connection, now)) return { outcome: 'usable', connection }
  if (failure instanceof BrokerError) throw failure
  if (
    failure instanceof ProviderRefusal &&
    ['invalid_client', 'invalid_scope', 'provider_refused'].includes(failure.reason)
  )
    throw new BrokerError('token_request_refused', failure.message, { cause: failure })
  const isToldByName = failure instanceof ProviderRefusal || failure === HELD_BACK || failure === ELSEWHERE
  return {
    outcome: 'provider_unavailable',
    message: isToldByName ? failure.message : 'The token cannot be refreshed right now. Try again shortly.',
    retryAfter: Math.max(1, until - now),
  }
}

export function isRefusalOfGrant(failure: Error): boolean {
  return failure instanceof ProviderRefusal && failure.reason === 'invalid_grant'
}

/** A refusal here comes before the request, and any other fault from who knows where. */
function outcomeOf(failure: Error): 'answered' | 'unknown' {
  if (failure instanceof ProviderRefusal) return failure.outcome
  return failure instanceof BrokerError ? 'answered' : 'unknown'
}

function endingOf(failure: Error, pauseSeconds: number): Ending {
  if (!(failure instanceof ProviderRefusal)) return 'nothing'
  const { trouble, retryAfter } = failure
  if (trouble === 'outage') return 'outage'
  if (trouble === 'limit' && retryAfter !== undefined) return { limitedForSeconds: pauseSeconds }
  return 'answered'
}

/**
 * As the provider asked, else soon: there may be a grace in which a used refresh token is still taken, so that the
 * first attempts after a lost answer follow closely.
 */
function coolDownSeconds(
  { refreshes }: Broker,
  { unansweredRefreshes }: Connection,
  failure: Error,
  rejected: string | undefined,
): number {
  const asked = failure instanceof ProviderRefusal ? failure.retryAfter : undefined
  if (asked !== undefined) return refreshes.jittered(asked)
  const doublings = outcomeOf(failure) === 'unknown' ? unansweredRefreshes - 1 : 0
  const seconds = Math.min(COOL_DOWN_SECONDS * 2 ** doublings, LONGEST_COOL_DOWN_SECONDS)
  return rejected === undefined ? seconds : Math.max(seconds, REJECTED_SECONDS)
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown'
}
