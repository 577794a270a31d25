import type { Broker } from '../broker.ts'
import { type Connection, chooseConnection, isFresh } from '../domain/connection.ts'
import { missingScopes } from '../domain/scopes.ts'
import { factsOf } from '../providers/known-facts.ts'
import type { ProviderEntry } from '../providers/provider.ts'
import type { HeldConnection, Release } from '../services/release.ts'
import type { ConnectionOwner } from '../store/changes.ts'
import { UnsealError } from '../store/seal.ts'
import { active, providerIdentity, registeredClient } from './find-provider.ts'
import { withCurrentMetadata } from './issuer-metadata.ts'
import { markUnusable } from './mark-unusable.ts'
import { type RefreshOptions, refreshConnection } from './refresh/refresh-connection.ts'
import { openAccess } from './seal-grant.ts'

/** Whose token is wanted, from which provider, for which scopes. */
export interface TokenNeed {
  readonly projectId: string
  readonly userId: string
  readonly entry: ProviderEntry
  /** Empty: any grant will do. */
  readonly scopes: readonly string[]
  /** A connection's id, or an account's id or name; absent: the default account. */
  readonly account?: string
  /** The token as it is was refused where it was used: refreshed although it looks fresh, unless it came just now. */
  readonly forceRefresh?: boolean
}

/** The everyday outcomes of asking for a token. */
export type TokenOutcome =
  | ({ readonly outcome: 'ready' } & Release)
  | {
      readonly outcome: 'authorization_required'
      /** The connection that is there but does not do, and what it lacks. */
      readonly connection?: Connection
      readonly missingScopes: readonly string[]
    }
  | {
      readonly outcome: 'provider_unavailable'
      readonly message: string
      /** Seconds. */
      readonly retryAfter: number
    }

/**
 * The user's token, refreshed if need be, for `releaseTokens` to hand out. A fresh token costs one look-up.
 * Throws `token_request_refused` when the provider refuses for a reason that is not the user's, `provider_incomplete`
 * when its client is not set, `provider_inactive` when it is switched off.
 */
export function getAccessToken(broker: Broker, need: TokenNeed): Promise<TokenOutcome> {
  const { id } = need.entry
  const found = findAccessToken(broker, need)
  found.then(
    ({ outcome }) => broker.metrics.tokenFetched(id, outcome),
    () => broker.metrics.tokenFetched(id, 'refused'),
  )
  return found
}

async function findAccessToken(broker: Broker, need: TokenNeed): Promise<TokenOutcome> {
  const { account } = need
  const entry = active(need.entry)
  const owner = { projectId: need.projectId, providerUid: entry.uid, userId: need.userId }
  const held = await heldConnections(broker, owner)
  const chosen = account === undefined ? held[0] : chooseHeld(held, account)
  if (chosen === undefined || chosen.connection.status !== 'active')
    return {
      outcome: 'authorization_required',
      missingScopes: need.scopes,
      ...(chosen && { connection: chosen.connection }),
    }

  const { connection } = chosen
  if (connection.providerIdentity !== providerIdentity(broker, entry)) {
    registeredClient(broker, entry) // a client id that is not set here says nothing of the grant
    await markUnusable(broker, entry, connection, 'provider_changed')
    return { outcome: 'authorization_required', missingScopes: need.scopes, connection }
  }
  const missing = missingScopes(need.scopes, connection.scopes, factsOf(entry.provider))
  if (missing.length > 0) return { outcome: 'authorization_required', missingScopes: missing, connection }

  const { forceRefresh = false } = need
  if (!forceRefresh && isFresh(connection, broker.now())) return release(broker, entry, chosen)
  const current = await withCurrentMetadata(broker, entry)
  const refreshed = await refreshConnection(
    broker,
    current,
    connection,
    forceRefresh ? rejected(broker, chosen) : {},
  )
  switch (refreshed.outcome) {
    case 'usable':
      return release(broker, current, { connection: refreshed.connection })
    case 'authorization_required':
      return { outcome: 'authorization_required', missingScopes: need.scopes, connection }
    case 'provider_unavailable':
      return refreshed
  }
}

/** The token as it is held; one that does not open is found out when it is to be released. */
function rejected(broker: Broker, held: HeldConnection): RefreshOptions {
  try {
    return { rejected: openAccess(broker, held.connection).accessToken }
  } catch (error) {
    if (error instanceof UnsealError) return {}
    throw error
  }
}

/** A row that does not open fails closed, by itself, and asks for a new consent. */
async function release(broker: Broker, entry: ProviderEntry, held: HeldConnection): Promise<TokenOutcome> {
  const { connection } = held
  try {
    held.opened ??= open(broker, connection)
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error
    broker.log.error({ connection: connection.id, reason: error.message }, 'a connection cannot be opened')
    await markUnusable(broker, entry, connection, 'unreadable')
    return { outcome: 'authorization_required', missingScopes: [], connection }
  }
  broker.uses.used('connections', connection.id, broker.now())
  return { outcome: 'ready', connection, entry, ...held.opened }
}

function open(broker: Broker, connection: Connection): NonNullable<HeldConnection['opened']> {
  const secrets = openAccess(broker, connection)
  return { ...secrets, fingerprint: broker.audit.fingerprint(secrets.accessToken) }
}

/** All of one user at one provider, the default first, as the cache has them. */
export function heldConnections(
  broker: Broker,
  owner: ConnectionOwner,
): readonly HeldConnection[] | Promise<readonly HeldConnection[]> {
  return broker.cache.connections.get(ownerKey(owner), async () =>
    (await broker.store.connections.ofOwner(owner)).map((connection) => ({ connection })),
  )
}

export function ownerKey({ projectId, providerUid, userId }: ConnectionOwner): string {
  return `${projectId} ${providerUid} ${userId}`
}

function chooseHeld(held: readonly HeldConnection[], account: string): HeldConnection | undefined {
  const chosen = chooseConnection(
    held.map((one) => one.connection),
    account,
  )
  return held.find((one) => one.connection === chosen)
}
