import { isDeepStrictEqual } from 'node:util'
import type { Broker } from '../broker.ts'
import { causeOf } from '../domain/causes.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import { type AccessSecrets, type Connection, NEW_CONNECTION } from '../domain/connection.ts'
import { derivedAccountId, sharedKeyAccountId } from '../domain/derived-account.ts'
import { BrokerError } from '../domain/errors.ts'
import { newOwnedId, sha256 } from '../domain/ids.ts'
import { isSharedWith, NO_USER, type SharedConnection, type SharedUse } from '../domain/shared-connection.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { ownerOf } from '../providers/provider-grant.ts'
import type { CachedConnection } from '../services/release.ts'
import { currentContext } from '../services/request-context.ts'
import { cachedConnections } from './cached-connections.ts'
import { factsAbout } from './causes/explanation.ts'
import { providerIdentity } from './get-provider.ts'
import { sealGrant } from './seal-grant.ts'

/** Sets of scopes for which one shared connection has tokens; one more takes the place of another. */
const MAX_SETS = 50

interface SharedNeed {
  readonly projectId: string
  readonly userId: string
  readonly scopes: readonly string[]
  readonly account?: string | undefined
}

/** A connection of the project, and the one with its key, or with its token of the needed scopes, which may have expired. */
export interface SharedToken {
  readonly shared: SharedConnection
  readonly held: CachedConnection
}

/**
 * The project's connection that is shared with this use: the one that `account` names, else the oldest. `undefined`: users
 * may connect accounts of their own, and no connection is shared with them. Throws `denied_by_policy` when connections are
 * shared, but not with this use, and `authorization_required` when only an administrator can help.
 */
export async function findSharedToken(
  broker: Broker,
  need: SharedNeed,
  entry: ProviderEntry,
): Promise<SharedToken | undefined> {
  const { projectId, account } = need
  const all = await sharedConnections(broker, projectId)
  const { ofEntry, named, shared } = chooseShared(all, { entry, account }, currentUse(need))
  if (shared === undefined) {
    if (ownerOf(entry.provider) === 'either' && (named.length === 0 || account === undefined))
      return undefined
    throw ofEntry.length === 0 ? askOperator(broker, entry) : notShared(entry)
  }
  const { credentials } = entry.provider
  const held = await (credentials === undefined
    ? tokenFor(broker, entry, shared, need.scopes)
    : findKey(broker, shared))
  if (held === undefined) throw askOperator(broker, entry)
  return { shared, held }
}

/** The first connection to the entry that is shared with the use, and all from which it was chosen. */
export function chooseShared(
  all: readonly SharedConnection[],
  { entry, account }: { readonly entry: ProviderEntry; readonly account?: string | undefined },
  use: SharedUse,
) {
  const ofEntry = all.filter(({ providerUid }) => providerUid === entry.uid)
  const named =
    account === undefined ? ofEntry : ofEntry.filter(({ id, name }) => account === id || account === name)
  return { ofEntry, named, shared: named.find(({ sharedWith }) => isSharedWith(sharedWith, use)) }
}

/**
 * Reads the sharing again once the provider has answered, since a token request takes seconds. Returns whether the
 * connection was changed meanwhile, and its tokens deleted. Throws `denied_by_policy` when it is no longer shared with
 * this use.
 */
export async function wasChanged(
  { store }: Broker,
  need: SharedNeed,
  entry: ProviderEntry,
  shared: SharedConnection,
): Promise<boolean> {
  const current = await store.sharedConnections.find(need.projectId, shared.id)
  if (current !== undefined && isSharedWith(current.sharedWith, currentUse(need)))
    return !isDeepStrictEqual(current, shared)
  // this use may have stored a token after the deletion
  if (current === undefined) await store.sharedConnections.forgetTokens(shared)
  throw notShared(entry)
}

function currentUse({ userId }: SharedNeed): SharedUse {
  return sharedUse(userId, currentContext().permitted?.tool)
}

/** The connection that holds the key of a shared one. */
export async function findKey(
  broker: Broker,
  { projectId, providerUid, id }: SharedConnection,
): Promise<CachedConnection | undefined> {
  const held = await cachedConnections(broker, { projectId, providerUid, userId: NO_USER })
  return held.find(({ connection }) => connection.account.id === sharedKeyAccountId(id))
}

/** Only an administrator can help: no user is sent anywhere. */
export function askOperator(broker: Broker, entry: ProviderEntry): BrokerError {
  const { id, uid, projectId, provider } = entry
  const { displayName, impersonation } = provider
  if (impersonation !== undefined)
    return new BrokerError(
      'authorization_required',
      `${displayName} refused a token in the name of this user. An administrator has to look after it: who is known there, and the provider "${id}". DELETE /v1/connections/{id} has the next use ask again.`,
    )
  return new BrokerError(
    'authorization_required',
    `${displayName} is used by connections of the project, and none of them works. An administrator has to look after it: gatepass connections shared, or POST /v1/admin/connections.`,
    {
      why: causeOf('shared_connection_unusable', factsAbout(broker, entry, { providerUid: uid, projectId })),
    },
  )
}

function notShared({ provider: { displayName } }: ProviderEntry): BrokerError {
  return new BrokerError(
    'denied_by_policy',
    `The project's connections to ${displayName} are not shared with this use. An administrator decides with which users, agents and tools: PATCH /v1/admin/connections/{id} {"shared_with": …}.`,
  )
}

/** The connections that the project shares, oldest first. */
export function sharedConnections(
  { cache, store }: Broker,
  projectId: string,
): readonly SharedConnection[] | Promise<readonly SharedConnection[]> {
  return cache.sharedConnections.get(projectId, () => store.sharedConnections.list(projectId))
}

/** The use of a user and a tool by the caller of the current request. */
export function sharedUse(userId: string, tool: SharedUse['tool']): SharedUse {
  const { apiKey, actor } = currentContext()
  const agents = [apiKey?.id, apiKey?.name, actor.client].filter((name) => name !== undefined)
  return { userId, agents, tool }
}

/**
 * Whether the connection may have these scopes, and its key, or its token of them, is not known to be refused. A token that
 * was never asked for counts as usable. `rows`: the keys and tokens of the entry's shared connections.
 */
export function isUsableFor(
  broker: Broker,
  entry: ProviderEntry,
  shared: SharedConnection,
  needed: readonly string[],
  rows: readonly Connection[],
): boolean {
  const { id, scopes: most } = shared
  const rowOf = (accountId: string) => rows.find(({ account }) => account.id === accountId)
  if (entry.provider.credentials !== undefined) {
    const key = rowOf(sharedKeyAccountId(id))
    return key?.status === 'active' && key.providerIdentity === providerIdentity(broker, entry)
  }
  if (most !== undefined && needed.some((scope) => !most.includes(scope))) return false
  const token = rowOf(tokenAccount({ id }, scopesFor(entry, shared, needed)))
  if (token === undefined || token.providerIdentity !== providerIdentity(broker, entry)) return true
  return token.status === 'active' || !isOfNow(token, entry)
}

/** The needed scopes, or all that the connection may have, in a fixed order. Throws `denied_by_policy` for others. */
function scopesFor(
  entry: ProviderEntry,
  { name, scopes: most }: SharedConnection,
  needed: readonly string[],
) {
  const scopes = needed.length > 0 ? needed : (most ?? entry.provider.defaultScopes)
  const beyond = most === undefined ? [] : scopes.filter((scope) => !most.includes(scope))
  if (beyond.length > 0)
    throw new BrokerError(
      'denied_by_policy',
      `The project's connection "${name}" to ${entry.provider.displayName} may not have the scope ${beyond.join(', ')}.`,
    )
  return [...new Set(scopes)].sort()
}

/**
 * The connection with the token of these scopes; none: of all that it may have. Where there is none, one that has expired
 * is stored first. Throws `denied_by_policy` for scopes that the connection may not have.
 */
export async function tokenFor(
  broker: Broker,
  entry: ProviderEntry,
  shared: SharedConnection,
  needed: readonly string[],
): Promise<CachedConnection> {
  const scopes = scopesFor(entry, shared, needed)
  const { projectId, id, name } = shared
  return tokenOf(broker, entry, { projectId, userId: NO_USER, id, name }, scopes)
}

/** Whose token it is: the id begins the accounts of its connections, one for each set of scopes. */
interface TokenOwner {
  readonly projectId: string
  readonly userId: string
  readonly id: string
  readonly name: string
  /** Of the connection whose token is exchanged: after another consent, no token of the former one is found. */
  readonly consentedAt?: EpochSeconds | undefined
  /** What its tokens keep: the installation that they are for. */
  readonly kept?: AccessSecrets['kept']
}

/** The account of the connection with the owner's token of these scopes. */
export function tokenAccount(
  { id, consentedAt }: Pick<TokenOwner, 'id' | 'consentedAt'>,
  scopes: readonly string[],
): string {
  return derivedAccountId(id, sha256(JSON.stringify([scopes, consentedAt])))
}

/** The connection with the owner's token of exactly these scopes, as for `tokenFor`. */
export async function tokenOf(
  broker: Broker,
  entry: ProviderEntry,
  { projectId, userId, id: ownerId, name, kept, ...version }: TokenOwner,
  scopes: readonly string[],
): Promise<CachedConnection> {
  const owner = { projectId, providerUid: entry.uid, userId }
  const accountId = tokenAccount({ id: ownerId, ...version }, scopes)
  const identity = providerIdentity(broker, entry)
  const isOf = ({ connection }: CachedConnection) => connection.account.id === accountId
  const held = await cachedConnections(broker, owner)
  const known = held.find(isOf)
  // a grant without a user needs no consent, so a changed entry gets tokens of its own
  if (
    known !== undefined &&
    known.connection.providerIdentity === identity &&
    isOfNow(known.connection, entry) &&
    isOfKind(known.connection, entry)
  )
    return known
  const sets = held.filter(({ connection }) => connection.account.id.startsWith(`${ownerId} `))
  if (known === undefined) await makeRoom(broker, sets)
  const id = known?.connection.id ?? newOwnedId('conn', projectId, userId)
  const connection = unrequested(broker, entry, {
    ...owner,
    id,
    account: { id: accountId, name },
    scopes,
    kept,
  })
  try {
    await broker.store.connections.addImported(connection, { replaces: true, makeDefault: false })
  } catch (error) {
    // another request added the connection at the same time: it is read below
    if (!(error instanceof BrokerError) || error.code !== 'already_exists') throw error
  }
  const stored = await broker.store.connections.ofOwner(owner)
  return { connection: stored.find((row) => row.account.id === accountId) ?? connection }
}

/** Callers choose scopes, so a caller who asks for many sets must not take their tokens from the others for good. */
async function makeRoom({ store }: Broker, sets: readonly CachedConnection[]): Promise<void> {
  const usedAt = ({ connection: { createdAt, receivedAt, lastUsedAt = 0 } }: CachedConnection) =>
    Math.max(createdAt, receivedAt, lastUsedAt)
  const longestUnused = sets.toSorted((one, other) => usedAt(one) - usedAt(other))
  for (const { connection } of longestUnused.slice(0, Math.max(0, sets.length - MAX_SETS + 1)))
    await store.sharedConnections.forgetToken(connection)
}

/** Whether the token may still be used: one that needs an administrator is asked for again once the entry has changed. */
function isOfNow({ status, consentedAt }: Connection, { updatedAt }: ProviderEntry): boolean {
  return status === 'active' || updatedAt <= consentedAt
}

/** Whether the token is bound to a key or not (RFC 9449), as the entry wants it now. */
function isOfKind({ tokenType, receivedAt }: Connection, { provider: { dpop } }: ProviderEntry): boolean {
  if (receivedAt === 0) return true // it was never asked for
  return tokenType === 'dpop' ? dpop !== undefined : dpop === undefined || dpop.optional === true
}

/** A connection whose token was never asked for: it has expired, so its first use asks. */
function unrequested(
  broker: Broker,
  entry: ProviderEntry,
  {
    kept,
    ...row
  }: Pick<Connection, 'id' | 'projectId' | 'userId' | 'providerUid' | 'account' | 'scopes'> &
    Pick<AccessSecrets, 'kept'>,
): Connection {
  const now = broker.now()
  const nothing = { accessToken: '', userInfo: {}, tokenType: 'Bearer', scopes: row.scopes, kept }
  return {
    ...NEW_CONNECTION,
    ...row,
    ...sealGrant(broker, row, nothing),
    receivedAt: 0,
    expiresAt: 0,
    providerIdentity: providerIdentity(broker, entry),
    createdAt: now,
    consentedAt: now,
  }
}
