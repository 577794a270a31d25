import type { Broker } from '../broker.ts'
import { type AccessSecrets, type Connection, isAlive } from '../domain/connection.ts'
import type { Grant } from '../providers/grant.ts'
import type { ProviderEntry, RegisteredClient } from '../providers/provider.ts'
import { AUTHORIZATION_REQUIRED, type RefreshOutcome } from '../services/refresh-outcome.ts'
import { UnsealError } from '../store/seal.ts'
import { registeredClient } from './find-provider.ts'
import { markUnusable } from './mark-unusable.ts'
import {
  answerFailure,
  COOL_DOWN_SECONDS,
  ELSEWHERE,
  HELD_BACK,
  isRefusalOfGrant,
  REJECTED_SECONDS,
  settleFailure,
} from './refresh-failure.ts'
import { createRefreshLease, type RefreshLease } from './refresh-lease.ts'
import { openAccess, openRefreshToken } from './seal-grant.ts'
import { type LetGo, takeRefreshed } from './take-refreshed.ts'

export interface RefreshOptions {
  /**
   * An access token that was refused where it was used. It is refreshed however long it should still live, if it is
   * still the one that is stored and was not received just now; it is no answer when the refresh fails.
   */
  readonly rejected?: string
  /** `none`: a refresh by another process is not waited for. */
  readonly patience?: 'none'
}

/** How long another process is waited for: with nothing to answer meanwhile, and with a token that still lives. */
const FOREIGN_REFRESH_MS = 12_000
const FOREIGN_REFRESH_WHILE_ALIVE_MS = 2_000
/** How often it is looked at least, whatever was or was not announced. */
const FOREIGN_LOOK_MS = 200

/**
 * A token that may be used: refreshed, or still alive when the refresh failed. Simultaneous calls share one token
 * request, in this process by one promise and over processes by a lease on the row (RFC 6749 section 6, RFC 9700
 * section 4.14). Only the provider's refusal of the grant asks for a new consent.
 */
export async function refreshConnection(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
  options: RefreshOptions = {},
): Promise<RefreshOutcome> {
  const { id } = connection
  const { running, answers } = broker.refreshes
  for (let known = answers.get(id); known !== undefined; known = answers.get(id)) {
    if (options.rejected === undefined) return known
    await known.catch(() => {}) // it may have been begun for another reason: then it is looked at anew
    if (answers.get(id) === known) return known // its answer waits for the database
  }
  const waiting = Promise.withResolvers<never>()
  const started = refresh(broker, entry, connection, { ...options, letGo: waiting.reject }).finally(() => {
    running.delete(id)
    answers.delete(id)
  })
  const answer = Promise.race([started, waiting.promise])
  running.set(id, started)
  answers.set(id, answer)
  for (const one of [started, answer]) one.catch(() => {}) // whoever asked hears of it; later nobody does
  return answer
}

async function refresh(
  broker: Broker,
  entry: ProviderEntry,
  stale: Connection,
  options: RefreshOptions & LetGo,
): Promise<RefreshOutcome> {
  const { rejected, patience } = options
  const { store, refreshes } = broker
  const began = performance.now()
  for (;;) {
    const current = await store.connections.find(stale.id)
    if (current === undefined || current.status !== 'active') return AUTHORIZATION_REQUIRED
    const now = broker.now()
    const usable = { outcome: 'usable', connection: current } as const
    const alive = rejected === undefined && isAlive(current, now)
    if (rejected !== undefined && !isToBeReplaced(broker, current, rejected)) return usable
    if (alive && current.generation !== stale.generation) return usable
    if (current.refresh === undefined || entry.provider.refreshRequest === undefined)
      return expire(broker, entry, current)
    // a second use of a refresh token whose first may have gone through would end the access token as well
    if (alive && entry.provider.strictRotation && current.unansweredRefreshes > 0) return usable

    const cooling = refreshes.coolingDown(current)
    // what was refused while the token lived is asked once more when the token is of no use
    if (cooling && (rejected === undefined || !isRefusalOfGrant(cooling.failure)))
      return answerFailure(broker, current, cooling, rejected)

    const wait = refreshes.breaker.enter(entry, current.id)
    if (wait > 0) return answerFailure(broker, current, { until: now + wait, failure: HELD_BACK }, rejected)
    const lease = createRefreshLease(broker)
    const claimed = await store.connections
      .claimRefresh(current.id, current.generation, lease, now)
      .catch((error: unknown) => {
        refreshes.breaker.ended(entry, current.id, 'nothing')
        throw error
      })
    if (claimed !== undefined) {
      const outcome = await refreshClaimed(broker, entry, claimed, lease, options)
      if (outcome !== undefined) return outcome
      continue // another process has taken over: what it stores is looked for
    }

    refreshes.breaker.ended(entry, current.id, 'nothing')
    const longest = patience === 'none' ? 0 : alive ? FOREIGN_REFRESH_WHILE_ALIVE_MS : FOREIGN_REFRESH_MS
    if (performance.now() - began >= longest) {
      const elsewhere = { until: now + COOL_DOWN_SECONDS, failure: ELSEWHERE }
      // who has a token need not wait for a dead process again and again
      if (alive && patience === undefined) refreshes.coolDown(current, elsewhere)
      return answerFailure(broker, current, elsewhere, rejected)
    }
    await refreshes.changed(current.id, FOREIGN_LOOK_MS)
  }
}

/** Whether a token that was refused is still the one there is, and old enough for a refresh to help. */
function isToBeReplaced(broker: Broker, connection: Connection, rejected: string): boolean {
  const age = broker.now() - connection.receivedAt
  if (age >= 0 && age < REJECTED_SECONDS) return false
  try {
    return openAccess(broker, connection).accessToken === rejected
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error
    return true // the refresh says what is to be done about it
  }
}

/** `undefined` when the lease was lost to another process before anything came of it. */
async function refreshClaimed(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
  lease: RefreshLease,
  { rejected, letGo }: RefreshOptions & LetGo,
): Promise<RefreshOutcome | undefined> {
  const { id } = connection
  if (connection.unansweredRefreshes > 1)
    broker.log.info(
      { connection: id, provider: entry.id, unanswered: connection.unansweredRefreshes - 1 },
      'a refresh whose outcome was lost is tried once more',
    )
  let registered: RegisteredClient
  let known: AccessSecrets
  let grant: Grant
  try {
    registered = registeredClient(broker, entry)
    known = openAccess(broker, connection)
    grant = await broker.oauth.refresh(
      registered,
      openRefreshToken(broker, connection) ?? '',
      known.accessToken,
      lease.guard(connection),
    )
  } catch (failure) {
    if (!(failure instanceof Error)) throw failure
    if (lease.heldBack === 'lapsed') return giveBack(broker, entry, connection, lease)
    return settleFailure(broker, entry, connection, lease.owner, lease.heldBack ?? failure, rejected)
  } finally {
    lease.end()
  }
  broker.refreshes.breaker.ended(entry, id, 'refreshed')
  return takeRefreshed(broker, { entry, registered, connection, known, grant, letGo })
}

/** Nothing was sent: this process stood still for so long that another may have taken the lease over. */
async function giveBack(
  { store, refreshes, log }: Broker,
  entry: ProviderEntry,
  { id }: Connection,
  { owner }: RefreshLease,
): Promise<undefined> {
  log.warn({ connection: id, provider: entry.id }, 'a refresh was begun too late to be sent under its lease')
  refreshes.breaker.ended(entry, id, 'nothing')
  await store.connections.releaseRefresh(id, owner, 'answered')
}

/** Without a refresh token the access token is used to its end; then the user must approve again. */
async function expire(broker: Broker, entry: ProviderEntry, connection: Connection): Promise<RefreshOutcome> {
  if (isAlive(connection, broker.now())) return { outcome: 'usable', connection }
  await markUnusable(broker, entry, connection, 'token_expired')
  return AUTHORIZATION_REQUIRED
}
