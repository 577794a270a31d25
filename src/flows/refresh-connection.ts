import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../broker.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Connection } from '../domain/connection.ts'
import { BrokerError } from '../domain/errors.ts'
import type { Grant } from '../providers/grant.ts'
import type { ProviderEntry } from '../providers/provider.ts'
import { ProviderRefusal } from '../providers/provider-refusal.ts'
import { UnsealError } from '../store/seal.ts'
import type { RefreshedTokens } from '../store/store.ts'
import { registeredClient } from './find-provider.ts'
import { openAccess, openRefreshToken, sealGrant } from './seal-grant.ts'

export type RefreshOutcome =
  | { readonly outcome: 'usable'; readonly connection: Connection }
  | { readonly outcome: 'authorization_required' }
  | { readonly outcome: 'provider_unavailable'; readonly message: string; readonly retryAfter: number }

/** Longer than any token request may take, so that a living holder never loses it; a dead one's lapses. */
const LEASE_SECONDS = 25
/** How long another process is waited for, and how often it is looked. */
const FOREIGN_REFRESH_MS = 12_000
const FOREIGN_LOOK_MS = 40
/** How long a failed refresh is not tried again, unless the provider said. */
const COOL_DOWN_SECONDS = 5
const MAX_COOLING_DOWN = 10_000

/**
 * A token that may be used: refreshed, or still alive when the refresh failed. Simultaneous calls share one token
 * request, in this process by one promise and over processes by a lease on the row (RFC 6749 section 6, RFC 9700
 * section 4.14). Only the provider's refusal of the grant asks for a new consent.
 */
export function refreshConnection(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
): Promise<RefreshOutcome> {
  const { running } = broker.refreshes
  const known = running.get(connection.id)
  if (known !== undefined) return known
  const started = refresh(broker, entry, connection).finally(() => running.delete(connection.id))
  running.set(connection.id, started)
  return started
}

async function refresh(broker: Broker, entry: ProviderEntry, stale: Connection): Promise<RefreshOutcome> {
  const { store } = broker
  for (let waited = 0; ; waited += FOREIGN_LOOK_MS) {
    const current = await store.connections.find(stale.id)
    if (current === undefined || current.status !== 'active') return { outcome: 'authorization_required' }
    if (current.generation !== stale.generation) return { outcome: 'usable', connection: current }
    if (current.refresh === undefined || entry.provider.refreshRequest === undefined)
      return expire(broker, current)

    const cooling = broker.refreshes.coolingDown.get(stale.id)
    if (cooling !== undefined && broker.now() < cooling.until)
      return settleFailure(broker, current, cooling.failure)

    const lease = { owner: randomUUID(), seconds: LEASE_SECONDS }
    const claimed = await store.connections.claimRefresh(current.id, current.generation, lease, broker.now())
    if (claimed !== undefined) return refreshClaimed(broker, entry, claimed, lease.owner)
    if (waited >= FOREIGN_REFRESH_MS)
      return settleFailure(broker, current, new Error('another process is refreshing this connection'))
    await sleep(FOREIGN_LOOK_MS)
  }
}

async function refreshClaimed(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
  leaseOwner: string,
): Promise<RefreshOutcome> {
  const { store, oauth } = broker
  const { id, generation } = connection
  try {
    const registered = registeredClient(broker, entry)
    const { accessToken, userInfo } = openAccess(broker, connection)
    const grant = await oauth.refresh(registered, openRefreshToken(broker, connection) ?? '', accessToken)
    broker.refreshes.coolingDown.delete(id)
    // first of all: a rotated refresh token that is lost here is lost for good (RFC 9700 section 4.14)
    const settled = await store.connections.settleRefresh(
      id,
      generation,
      sealRefreshed(broker, connection, grant, userInfo),
    )
    if (settled !== undefined) {
      const more = await oauth.askAgain(registered, grant)
      const told = more && sealRefreshed(broker, settled, { ...more, refreshToken: undefined }, userInfo)
      const connection = told && (await store.connections.settleRefresh(id, settled.generation, told))
      return { outcome: 'usable', connection: connection ?? settled }
    }
    // the user revoked or consented anew meanwhile: what stands in the store counts
    const current = await store.connections.find(id)
    if (current?.status === 'active') return { outcome: 'usable', connection: current }
    if (current === undefined) await oauth.revoke(registered, grant)
    return { outcome: 'authorization_required' }
  } catch (failure) {
    if (!(failure instanceof Error)) throw failure
    broker.log.warn({ connection: id, provider: entry.id, reason: reasonOf(failure) }, 'a refresh failed')
    if (failure instanceof UnsealError) {
      await store.connections.needsAuthorization(id, generation, 'unreadable')
      return { outcome: 'authorization_required' }
    }
    const alive = isAlive(connection, broker.now())
    if (failure instanceof ProviderRefusal && failure.reason === 'invalid_grant' && !alive) {
      if (await store.connections.needsAuthorization(id, generation, 'refresh_refused'))
        return { outcome: 'authorization_required' }
      const current = await store.connections.find(id)
      if (current?.status === 'active') return { outcome: 'usable', connection: current }
      return { outcome: 'authorization_required' }
    }
    await store.connections.releaseRefresh(id, leaseOwner, 'answered')
    coolDown(broker, connection, failure)
    return settleFailure(broker, connection, failure)
  }
}

/** What a caller gets after a failure that says nothing of the grant: the old token while it lives, else "later". */
function settleFailure(broker: Broker, connection: Connection, failure: Error): RefreshOutcome {
  if (isAlive(connection, broker.now())) return { outcome: 'usable', connection }
  if (failure instanceof BrokerError) throw failure
  if (
    failure instanceof ProviderRefusal &&
    ['invalid_client', 'invalid_scope', 'provider_refused'].includes(failure.reason)
  )
    throw new BrokerError('token_request_refused', failure.message, { cause: failure })
  const until = broker.refreshes.coolingDown.get(connection.id)?.until ?? 0
  return {
    outcome: 'provider_unavailable',
    message:
      failure instanceof ProviderRefusal
        ? failure.message
        : 'The token cannot be refreshed right now. Try again shortly.',
    retryAfter: Math.max(1, until - broker.now()),
  }
}

function coolDown(broker: Broker, connection: Connection, failure: Error): void {
  const { coolingDown } = broker.refreshes
  const seconds = (failure instanceof ProviderRefusal ? failure.retryAfter : undefined) ?? COOL_DOWN_SECONDS
  // a refusal of the grant while the token lives is believed when the token ends, and no later
  const refused = failure instanceof ProviderRefusal && failure.reason === 'invalid_grant'
  const until = refused ? (connection.expiresAt ?? broker.now()) : broker.now() + seconds
  if (coolingDown.size >= MAX_COOLING_DOWN) coolingDown.clear()
  coolingDown.set(connection.id, { until, failure })
}

/** Without a refresh token the access token is used to its end; then the user must approve again. */
async function expire(broker: Broker, connection: Connection): Promise<RefreshOutcome> {
  if (isAlive(connection, broker.now())) return { outcome: 'usable', connection }
  await broker.store.connections.needsAuthorization(connection.id, connection.generation, 'token_expired')
  return { outcome: 'authorization_required' }
}

/** The tokens of a refresh, with what is known from before where the answer does not say. */
function sealRefreshed(
  broker: Broker,
  connection: Connection,
  grant: Omit<Grant, 'account' | 'refreshToken'> & { readonly refreshToken?: string | undefined },
  userInfo: Readonly<Record<string, unknown>>,
): RefreshedTokens {
  return sealGrant(broker, connection, {
    ...grant,
    userInfo: grant.userInfo ?? userInfo,
    scopes: grant.scopes ?? connection.scopes,
    expiresIn: grant.expiresIn ?? lifeOf(connection),
  })
}

/** An answer without `expires_in` is taken to live as long as the one before. */
function lifeOf({ receivedAt, expiresAt }: Connection): number | undefined {
  return expiresAt === undefined ? undefined : expiresAt - receivedAt
}

function isAlive({ expiresAt }: Connection, now: EpochSeconds): boolean {
  return expiresAt === undefined || now < expiresAt
}

function reasonOf(failure: Error): string {
  return failure instanceof ProviderRefusal ? failure.reason : failure.name
}
