import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../broker.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import { type Connection, isAlive } from '../domain/connection.ts'
import { BrokerError } from '../domain/errors.ts'
import type { Grant } from '../providers/grant.ts'
import type { ProviderEntry, RegisteredClient } from '../providers/provider.ts'
import { ProviderRefusal } from '../providers/provider-refusal.ts'
import { UnsealError } from '../store/seal.ts'
import type { RefreshedTokens } from '../store/store.ts'
import { registeredClient } from './find-provider.ts'
import { markUnusable } from './mark-unusable.ts'
import type { Ending } from './provider-breaker.ts'
import type { CoolDown } from './refreshes.ts'
import { openAccess, openRefreshToken, sealGrant } from './seal-grant.ts'

export type RefreshOutcome =
  | { readonly outcome: 'usable'; readonly connection: Connection }
  | { readonly outcome: 'authorization_required' }
  | { readonly outcome: 'provider_unavailable'; readonly message: string; readonly retryAfter: number }

export interface RefreshOptions {
  /**
   * An access token that was refused where it was used. It is refreshed however long it should still live, if it is
   * still the one that is stored and was not received just now; it is no answer when the refresh fails.
   */
  readonly rejected?: string
  /** `none`: a refresh by another process is not waited for. */
  readonly patience?: 'none'
}

/**
 * Longer than any token request may take (10 s, waiting for a connection included) and its answer takes to be stored,
 * so that a living holder never loses it; that of a dead one lapses.
 */
const LEASE_SECONDS = 25
/** How long another process is waited for: with nothing to answer meanwhile, and with a token that still lives. */
const FOREIGN_REFRESH_MS = 12_000
const FOREIGN_REFRESH_WHILE_ALIVE_MS = 2_000
/** How often it is looked at least, whatever was or was not announced. */
const FOREIGN_LOOK_MS = 200
/** How long a failed refresh is not tried again, unless the provider said; doubled while its outcome stays unknown. */
const COOL_DOWN_SECONDS = 5
const LONGEST_COOL_DOWN_SECONDS = 60
const HELD_SECONDS = 30
/** A token that is refused again so soon will be refused after the next refresh too. */
const REJECTED_SECONDS = 10
/** For storing an answer while the database is away: within the lease. */
const FIRST_STORE_PAUSE_MS = 50
const LONGEST_STORE_PAUSE_MS = 3_200

const AUTHORIZATION_REQUIRED = { outcome: 'authorization_required' } as const

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
  const { running } = broker.refreshes
  for (let known = running.get(connection.id); known !== undefined; known = running.get(connection.id)) {
    if (options.rejected === undefined) return known
    await known.catch(() => {}) // it may have been begun for another reason: then it is looked at anew
  }
  const started = refresh(broker, entry, connection, options).finally(() => running.delete(connection.id))
  running.set(connection.id, started)
  return started
}

async function refresh(
  broker: Broker,
  entry: ProviderEntry,
  stale: Connection,
  { rejected, patience }: RefreshOptions,
): Promise<RefreshOutcome> {
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
    const lease = { owner: randomUUID(), seconds: LEASE_SECONDS }
    const claimed = await store.connections
      .claimRefresh(current.id, current.generation, lease, now)
      .catch((error: unknown) => {
        refreshes.breaker.ended(entry, current.id, 'nothing')
        throw error
      })
    if (claimed !== undefined) return refreshClaimed(broker, entry, claimed, lease.owner, rejected)

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

const HELD_BACK = new Error('The provider is in trouble and not asked for now. Try again shortly.')
const ELSEWHERE = new Error('The token is being refreshed by another process. Try again shortly.')

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

async function refreshClaimed(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
  leaseOwner: string,
  rejected: string | undefined,
): Promise<RefreshOutcome> {
  const { id } = connection
  if (connection.unansweredRefreshes > 1)
    broker.log.info(
      { connection: id, provider: entry.id, unanswered: connection.unansweredRefreshes - 1 },
      'a refresh whose outcome was lost is tried once more',
    )
  let registered: RegisteredClient
  let known: ReturnType<typeof openAccess>
  let grant: Grant
  try {
    registered = registeredClient(broker, entry)
    known = openAccess(broker, connection)
    grant = await broker.oauth.refresh(
      registered,
      openRefreshToken(broker, connection) ?? '',
      known.accessToken,
    )
  } catch (failure) {
    if (!(failure instanceof Error)) throw failure
    return settleFailure(broker, entry, connection, leaseOwner, failure, rejected)
  }
  broker.refreshes.breaker.ended(entry, id, 'refreshed')

  if (grant.subject !== undefined && isAnother(known.userInfo.sub, grant.subject))
    return refuseAccount(broker, entry, connection, registered, grant)
  // first of all: a rotated refresh token that is lost here is lost for good (RFC 9700 section 4.14)
  const settled = await store(broker, entry, connection, grant, known.userInfo)
  if (settled === undefined) return yieldToOthers(broker, entry, connection, registered, grant)
  broker.metrics.refreshed(entry.id, 'refreshed')

  const more = await broker.oauth.askAgain(registered, grant)
  if (more === undefined) return { outcome: 'usable', connection: settled }
  if (tellsAnotherAccount(entry, settled, more))
    return refuseAccount(broker, entry, settled, registered, grant)
  const { refreshToken: _, ...told } = more
  const complete = await store(broker, entry, settled, told, known.userInfo)
  return { outcome: 'usable', connection: complete ?? settled }
}

/**
 * Stores what was received if the tokens that were used still stand, whoever holds the lease by now. A database that
 * is away for a moment is waited for: there is no other copy of these tokens.
 */
async function store(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
  grant: Omit<Grant, 'account'>,
  userInfo: Readonly<Record<string, unknown>>,
): Promise<Connection | undefined> {
  const tokens = sealRefreshed(broker, entry, connection, grant, userInfo)
  const audit = broker.audit.of(connection.projectId, {
    action: 'connection.refreshed',
    userId: connection.userId,
    providerId: entry.id,
    connectionId: connection.id,
    scopes: tokens.scopes,
    fingerprint: broker.audit.fingerprint(grant.accessToken),
  })
  for (let pauseMs = FIRST_STORE_PAUSE_MS; ; pauseMs *= 2) {
    try {
      return await broker.store.connections.settleRefresh(connection.id, connection.generation, tokens, audit)
    } catch (error) {
      const isAway = error instanceof BrokerError && error.code === 'store_unavailable'
      if (!isAway || pauseMs > LONGEST_STORE_PAUSE_MS) throw error
      await sleep(pauseMs)
    }
  }
}

/**
 * Other tokens stand by now, or none: what the store says counts. A late answer is given back only when its user has
 * deleted the connection and not approved anew since: many servers end a whole grant with one token, and that would
 * take along the newer tokens of the same account. Nobody has a copy of the ones that are dropped.
 */
async function yieldToOthers(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
  registered: RegisteredClient,
  grant: Grant,
): Promise<RefreshOutcome> {
  const { connections } = broker.store
  const current = await connections.find(connection.id)
  broker.metrics.refreshed(entry.id, current === undefined ? 'revoked_meanwhile' : 'superseded')
  if (current?.status === 'active') return { outcome: 'usable', connection: current }
  if (current === undefined) {
    const others = await connections.ofOwner(connection)
    if (!others.some((one) => one.account.id === connection.account.id))
      await broker.oauth.revoke(registered, grant)
  }
  return AUTHORIZATION_REQUIRED
}

/** Tokens of somebody else are kept for nobody (RFC 9700 section 4.14, OpenID Connect Core section 12.2). */
async function refuseAccount(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
  registered: RegisteredClient,
  grant: Grant,
): Promise<RefreshOutcome> {
  broker.log.error(
    { connection: connection.id, provider: entry.id },
    'a refresh answered with the tokens of another account',
  )
  broker.metrics.refreshed(entry.id, 'refused')
  await markUnusable(broker, entry, connection, 'account_changed')
  await broker.oauth.revoke(registered, grant)
  return AUTHORIZATION_REQUIRED
}

/** OpenID Connect Core section 12.2: `sub` stays the same. The user info of the first answer has it too (5.3.2). */
function isAnother(known: unknown, subject: string): boolean {
  return typeof known === 'string' && known !== subject
}

/** Only where the account was named by the same request before: other sources may call it otherwise. */
function tellsAnotherAccount({ provider }: ProviderEntry, connection: Connection, more: Grant): boolean {
  const { account } = connection
  const isComparable = provider.userInfoRequest?.triggers.onTokenGrant === true && more.userInfo !== undefined
  const isNamed = account.id !== '' && account.id !== connection.id && more.account.id !== ''
  return isComparable && isNamed && account.id !== more.account.id
}

/**
 * After a failure: only a refusal of the grant can cost the user a consent, and not while the token lives, when other
 * tokens stand by now, or when the provider refuses so many that it must be its own fault.
 */
async function settleFailure(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
  leaseOwner: string,
  failure: Error,
  rejected: string | undefined,
): Promise<RefreshOutcome> {
  const { refreshes, metrics } = broker
  const { breaker } = refreshes
  const { id, generation, unansweredRefreshes } = connection
  const reason = failure instanceof ProviderRefusal ? failure.reason : failure.name
  broker.log.warn({ connection: id, provider: entry.id, reason }, 'a refresh failed')

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
    const verdict = breaker.refused(entry, id)
    const alive = rejected === undefined && isAlive(connection, broker.now())
    if (verdict === 'believed' && !alive) {
      const isLost = unansweredRefreshes > 1
      metrics.refreshed(entry.id, isLost ? 'lost' : 'refused')
      await markUnusable(broker, entry, connection, isLost ? 'refresh_outcome_lost' : 'refresh_refused')
      const stands = await broker.store.connections.find(id)
      return stands?.status === 'active' ? { outcome: 'usable', connection: stands } : AUTHORIZATION_REQUIRED
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
function answerFailure(
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

function isRefusalOfGrant(failure: Error): boolean {
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

/** Without a refresh token the access token is used to its end; then the user must approve again. */
async function expire(broker: Broker, entry: ProviderEntry, connection: Connection): Promise<RefreshOutcome> {
  if (isAlive(connection, broker.now())) return { outcome: 'usable', connection }
  await markUnusable(broker, entry, connection, 'token_expired')
  return AUTHORIZATION_REQUIRED
}

/** The tokens of a refresh, with what is known from before where the answer does not say. */
function sealRefreshed(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
  grant: Omit<Grant, 'account'>,
  userInfo: Readonly<Record<string, unknown>>,
): RefreshedTokens {
  return sealGrant(broker, connection, {
    ...grant,
    userInfo: grant.userInfo ?? userInfo,
    scopes: grantedStill(broker, entry, connection, grant.scopes),
    expiresIn: grant.expiresIn ?? lifeOf(connection),
  })
}

/** RFC 6749 section 6: a refresh may take scopes away, never add any that the user did not grant. */
function grantedStill(
  broker: Broker,
  entry: ProviderEntry,
  { id, scopes: granted }: Connection,
  told: readonly string[] | undefined,
): readonly string[] {
  // where nobody ever said what was granted, this is the first to say
  if (told === undefined || granted.length === 0) return told ?? granted
  const still = told.filter((scope) => granted.includes(scope))
  if (still.length < told.length)
    broker.log.warn(
      { connection: id, provider: entry.id, more: told.length - still.length },
      'a refresh told of scopes that were not granted: they are left out',
    )
  return still
}

/** An answer without `expires_in` is taken to live as long as the one before. */
function lifeOf({ receivedAt, expiresAt }: Connection): EpochSeconds | undefined {
  return expiresAt === undefined ? undefined : expiresAt - receivedAt
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown'
}
