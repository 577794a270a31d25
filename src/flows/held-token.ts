import type { Broker } from '../broker.ts'
import { type Connection, chooseConnection, isFresh } from '../domain/connection.ts'
import { missingScopes } from '../domain/scopes.ts'
import { fitsDpop } from '../providers/dpop.ts'
import { factsOf } from '../providers/known-facts.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import type { CachedConnection, Release } from '../services/release.ts'
import { isUseDue } from '../services/use-log.ts'
import { UnsealError } from '../store/seal.ts'
import { clientIdOf, registeredClient } from './get-provider.ts'
import { markUnusable } from './mark-unusable.ts'
import { refreshConnection, rejecting } from './refresh/refresh-connection.ts'
import { openAccess } from './seal-grant.ts'
import { askOperator } from './shared-token.ts'
import type { TokenNeed, TokenOutcome } from './token-need.ts'

// The token of one connection: stored, refreshed, or not usable any more.

/** `outdated`: the entry or the connection has changed since it was read, so the store is read and the search begins again. */
export type HeldOutcome = TokenOutcome | typeof OUTDATED

const OUTDATED = { outcome: 'outdated' } as const

/** The outcome for a connection whose entry has changed since its consent, so that its token is not used any more. */
export async function changed(
  broker: Broker,
  need: TokenNeed,
  entry: ProviderEntry,
  connection: Connection,
): Promise<HeldOutcome> {
  return (await markProviderChanged(broker, entry, connection))
    ? { outcome: 'authorization_required', missingScopes: need.scopes, connection }
    : OUTDATED
}

/** A token of a grant without a user, for exactly the needed scopes. No user gets a link for it. */
export async function asked(
  broker: Broker,
  need: TokenNeed,
  entry: ProviderEntry,
  found: CachedConnection | Promise<CachedConnection>,
): Promise<HeldOutcome> {
  const token = await askedOrRefused(broker, need, entry, await found)
  if (token.outcome === 'authorization_required') throw askOperator(broker, entry)
  return token
}

export async function askedOrRefused(
  broker: Broker,
  need: TokenNeed,
  entry: ProviderEntry,
  held: CachedConnection,
): Promise<HeldOutcome> {
  const of = { ...need, scopes: [] }
  return isUsable(broker, need, entry, held)
    ? release(broker, of, entry, held)
    : refreshed(broker, of, entry, held)
}

/** Whether the token is used without a question to the provider. */
export function isUsable(
  broker: Broker,
  { forceRefresh = false }: TokenNeed,
  { provider }: ProviderEntry,
  { connection }: CachedConnection,
): boolean {
  return !forceRefresh && connection.status === 'active' && isFresh(connection, broker.now(), provider)
}

/**
 * Marks a connection as needing a new consent because its entry has another identity now: its tokens must not be sent
 * to other endpoints. Returns `false`, with nothing marked, when the entry or the connection has changed since it was
 * read: an administrator may have kept the connection.
 */
export async function markProviderChanged(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
): Promise<boolean> {
  const current = await broker.store.providers.findByUid(entry.uid)
  if (current?.updatedAt !== entry.updatedAt) return false
  registeredClient(broker, entry) // throws if the client id is missing, which must not end the connection
  const { providerIdentity } = connection
  return markUnusable(broker, entry, connection, { reason: 'provider_changed', providerIdentity })
}

export async function refreshed(
  broker: Broker,
  need: TokenNeed,
  entry: ProviderEntry,
  held: CachedConnection,
): Promise<HeldOutcome> {
  const { scopes, forceRefresh = false } = need
  const { connection } = held
  const { entry: current, ...refresh } = await refreshConnection(
    broker,
    entry,
    connection,
    forceRefresh ? rejecting(broker, connection) : {},
  )
  switch (refresh.outcome) {
    case 'usable': {
      const missing = missingScopes(scopes, refresh.connection.scopes, factsOf(current.provider))
      if (missing.length === 0) return release(broker, need, current, { connection: refresh.connection })
      // the refresh, or a consent in the meantime, removed scopes
      return { outcome: 'authorization_required', missingScopes: missing, connection: refresh.connection }
    }
    case 'authorization_required':
      return { outcome: 'authorization_required', missingScopes: scopes, connection }
    case 'provider_unavailable':
      return refresh
  }
}

/** Decrypts the token. If that fails, the connection needs a new consent; the user's other connections are unaffected. */
export function release(
  broker: Broker,
  need: TokenNeed,
  entry: ProviderEntry,
  held: CachedConnection,
): HeldOutcome | Promise<HeldOutcome> {
  const { connection } = held
  try {
    if (held.ready?.entry !== entry) held.ready = open(broker, entry, connection)
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error
    broker.log.error({ connection: connection.id, reason: error.message }, 'a connection cannot be opened')
    return markUnusable(broker, entry, connection, { reason: 'unreadable' }).then((isMarked) =>
      isMarked ? { outcome: 'authorization_required', missingScopes: [], connection } : OUTDATED,
    )
  }
  if (!fitsDpop(entry.provider, held.ready)) return changed(broker, need, entry, connection)
  const { noted } = held.ready
  const now = broker.now()
  if (isUseDue(noted.connection, now)) {
    noted.connection = now
    broker.uses.used('connections', connection.id, now)
  }
  return held.ready
}

function open(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
): { readonly outcome: 'ready' } & Release {
  const secrets = openAccess(broker, connection)
  const fingerprint = broker.audit.fingerprint(secrets.accessToken)
  const clientId = clientIdOf(broker, entry)
  return { outcome: 'ready', connection, entry, ...secrets, fingerprint, texts: {}, noted: {}, clientId }
}

export function chooseHeld(held: readonly CachedConnection[], account: string): CachedConnection | undefined {
  const chosen = chooseConnection(
    held.map((candidate) => candidate.connection),
    account,
  )
  return held.find((candidate) => candidate.connection === chosen)
}
