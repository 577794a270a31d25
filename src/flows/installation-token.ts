import type { Broker } from '../broker.ts'
import { type Connection, connectionOfScopeSet, isScopeSet, scopeSetsOf } from '../domain/connection.ts'
import { BrokerError } from '../domain/errors.ts'
import { installationIn, keptInstallation } from '../providers/kept-values.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { ProviderRefusal } from '../providers/provider-refusal.ts'
import type { CachedConnection } from '../services/release.ts'
import { UnsealError } from '../store/seal.ts'
import { openAccess } from './seal-grant.ts'
import { tokenAccount, tokenOf } from './shared-token.ts'

// Tokens of an installation of the client. The connection that the user sees has the token of all its scopes; a need for
// fewer gets a token of exactly those, in a row of its own (`isScopeSet`).

/** The connections of which a user chooses one, without the rows of their scope sets. */
export function ownConnections(held: readonly CachedConnection[]): readonly CachedConnection[] {
  return held.some(({ connection }) => isScopeSet(connection))
    ? held.filter(({ connection }) => !isScopeSet(connection))
    : held
}

/**
 * The row with the token of exactly the needed scopes; of all that the connection has, when none are needed. It may hold
 * no token yet: it counts as expired then. Throws `denied_by_policy` for more than 50 sets of one connection.
 */
export function installationToken(
  broker: Broker,
  entry: ProviderEntry,
  {
    own,
    held,
    needed,
  }: { own: CachedConnection; held: readonly CachedConnection[]; needed: readonly string[] },
): CachedConnection | Promise<CachedConnection> {
  const { connection } = own
  const scopes = [...new Set(needed)].sort()
  const isWhole = scopes.length === 0 || isSameSet(scopes, connection.scopes)
  if (isWhole) return own
  const accountId = tokenAccount({ id: scopeSetsOf(connection.id) }, scopes)
  const known = held.find((row) => row.connection.account.id === accountId)
  const isUsable =
    known?.connection.status === 'active' && known.connection.providerIdentity === connection.providerIdentity
  if (known !== undefined && isUsable) return known
  const { projectId, userId, account } = connection
  const id = scopeSetsOf(connection.id)
  const installationId = installationOf(broker, connection)
  if (installationId === undefined) return own // its refresh says what is wrong with it
  const kept = keptInstallation(installationId)
  return tokenOf(broker, entry, { projectId, userId, id, name: account.name, kept }, scopes)
}

/** The installation of a connection, as its consent has stored it; `undefined` if it cannot be decrypted. */
function installationOf(broker: Broker, connection: Connection): string | undefined {
  try {
    return installationIn(openAccess(broker, connection).kept)
  } catch (error) {
    if (error instanceof UnsealError) return undefined
    throw error
  }
}

/** Whether a token for all scopes of the connection would be one without scopes, which the entry does not allow. */
export function isUnscoped({ provider }: ProviderEntry, { scopes }: Connection): boolean {
  return scopes.length === 0 && provider.unscopedTokens !== true
}

/** No link: a consent for no scopes would change nothing. */
export function scopesNotNamed({ id, provider: { displayName } }: ProviderEntry): BrokerError {
  return new BrokerError(
    'authorization_required',
    `A token of ${displayName} without scopes would have all that the installation has, so it is not asked for. Name the scopes that are needed, or an administrator sets oauth2.default_scopes or oauth2.unscoped_tokens of the provider "${id}".`,
  )
}

function isSameSet(sorted: readonly string[], scopes: readonly string[]): boolean {
  return sorted.length === scopes.length && [...scopes].sort().every((scope, i) => scope === sorted[i])
}

/** Whether the provider refused the token because the installation does not have a needed scope. */
export function isScopeRefusal(error: unknown): boolean {
  return (
    error instanceof BrokerError &&
    error.code === 'token_request_refused' &&
    error.cause instanceof ProviderRefusal &&
    error.cause.reason === 'invalid_scope'
  )
}

/**
 * No link either: the provider does not tell what an installation grants, so a consent would change nothing here, and the
 * next token is granted once the permission is.
 */
export function permissionMissing(
  { provider: { displayName } }: ProviderEntry,
  { scopes }: Connection,
): BrokerError {
  return new BrokerError(
    'scopes_not_granted',
    `The installation at ${displayName} does not have all of ${scopes.join(', ')}. Who owns it accepts the permissions at ${displayName}; a new consent here does not bring them.`,
  )
}

/** Deletes the tokens of a connection's scope sets; the next uses ask for new ones. */
export async function forgetScopeSets({ store }: Broker, connection: Connection): Promise<void> {
  await store.sharedConnections.forgetTokens({ ...connection, id: scopeSetsOf(connection.id) })
}

/**
 * Whether the row is a scope set whose connection was deleted, or needs a consent, since the caller read it: the row was
 * added after that, is deleted, and no token may be asked for. Read from the store, after the row was.
 */
export async function hasLostConnection({ store }: Broker, row: Connection): Promise<boolean> {
  const ownId = connectionOfScopeSet(row)
  if (ownId === undefined) return false
  const own = await store.connections.find(ownId)
  const isOfOwner = own?.projectId === row.projectId && own.userId === row.userId
  if (isOfOwner && own.providerUid === row.providerUid && own.status === 'active') return false
  await store.sharedConnections.forgetToken(row)
  return true
}
