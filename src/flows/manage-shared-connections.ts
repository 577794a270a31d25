import type { Broker } from '../broker.ts'
import type { Connection, NeedsAuthorizationReason } from '../domain/connection.ts'
import { derivedFrom } from '../domain/derived-account.ts'
import { BrokerError, invalidMember } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { NO_USER, type SharedConnection, type SharedWith } from '../domain/shared-connection.ts'
import { readTrail } from '../domain/trail.ts'
import type { ConnectionValues } from '../providers/connection-values.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { isUserless, ownerOf } from '../providers/provider-grant.ts'
import { changeRow } from '../services/change-row.ts'
import { causeOfStored } from './causes/explain-connection.ts'
import {
  findProviderByUid,
  getActiveProvider,
  providerIdentity,
  registeredClient,
  requireActive,
} from './get-provider.ts'
import { getShared, noShared } from './get-shared.ts'
import { refreshConnection } from './refresh/refresh-connection.ts'
import { sharedKey, testKey } from './shared-key.ts'
import { askOperator, tokenFor } from './shared-token.ts'
import { unavailableError } from './token-need.ts'

// Connections of the project, which administrators make, share and delete.

/** A shared connection with its provider; absent if that was removed meanwhile. */
export interface SharedWithEntry {
  readonly shared: SharedConnection
  readonly entry: ProviderEntry | undefined
  /** Why its key, or one of its tokens, cannot be used. Absent: all that is known of it works. */
  readonly trouble?: NeedsAuthorizationReason | undefined
}

export interface NewSharedConnection {
  readonly provider: string
  readonly name: string
  readonly scopes?: readonly string[] | undefined
  /** Where people type what is sent to the API: all fields of the entry, secrets too. */
  readonly fields?: ConnectionValues | undefined
  readonly sharedWith: SharedWith
}

/**
 * Adds a connection of the project once its provider has given a token for it, or has taken its key. Throws
 * `invalid_request` for a provider whose connections are users', and for fields that it does not take, `already_exists`,
 * and what asking for a token throws.
 */
export async function addSharedConnection(
  broker: Broker,
  projectId: string,
  { provider, name, scopes, fields, sharedWith }: NewSharedConnection,
): Promise<SharedWithEntry> {
  const entry = await getActiveProvider(broker, projectId, { id: provider })
  if (ownerOf(entry.provider) === 'user')
    throw invalidMember(
      'owner',
      'conflict',
      `The connections of "${entry.id}" are users'. An administrator can set its owner to project or either: PATCH /v1/admin/auth_providers/${entry.id}.`,
    )
  const { credentials } = entry.provider
  if (!isUserless(entry.provider) && credentials === undefined)
    throw invalidMember(
      'provider_id',
      'not_allowed',
      `A connection of the project to "${entry.id}" would need a person's consent, which cannot be given here yet.`,
    )
  if (credentials !== undefined && scopes !== undefined)
    throw invalidMember('scopes', 'conflict', `What "${entry.id}" is used with has no scopes.`)
  registeredClient(broker, entry)
  const now = broker.now()
  const wanted: SharedConnection = {
    id: newId('shared'),
    projectId,
    providerUid: entry.uid,
    name,
    ...(scopes !== undefined && { scopes: [...new Set(scopes)].sort() }),
    sharedWith,
    createdAt: now,
    updatedAt: now,
  }
  const others = await broker.store.sharedConnections.list(projectId)
  if (others.some((known) => known.providerUid === entry.uid && known.name === name))
    throw nameTaken(entry, name)
  const key = await sharedKey(broker, entry, wanted, fields ?? (credentials && {}))
  try {
    if (key === undefined) await tryToken(broker, entry, wanted)
    const audit = broker.audit.of(projectId, {
      action: 'shared_connection.added',
      providerId: entry.id,
      subject: wanted.id,
    })
    const shared = await broker.store.sharedConnections.add(wanted, audit, key)
    if (shared === undefined) throw nameTaken(entry, name)
    return { shared, entry }
  } catch (error) {
    await broker.store.sharedConnections.forgetTokens(wanted)
    throw error
  }
}

/** Asks for a token with all scopes that the connection may have. Throws what asking for a token throws. */
async function tryToken(broker: Broker, entry: ProviderEntry, shared: SharedConnection): Promise<void> {
  const { connection } = await tokenFor(broker, entry, shared, [])
  const asked = await refreshConnection(broker, entry, connection)
  if (asked.outcome === 'provider_unavailable') throw unavailableError(asked)
  if (asked.outcome === 'authorization_required') throw await refusedGrant(broker, entry, connection.id)
}

/** Why the provider gave no token: its own words, and what an administrator does about it. */
async function refusedGrant(
  broker: Broker,
  entry: ProviderEntry,
  connectionId: string,
): Promise<BrokerError> {
  const why = await causeOfStored(broker, connectionId)
  if (why === undefined) return askOperator(broker, entry)
  const { entries } = readTrail((await broker.store.connections.trail(connectionId)) ?? '')
  const { error, description } = entries.findLast(({ step }) => step === 'refresh_failed')?.details ?? {}
  const answer = [error, description].filter((word) => word !== undefined).join(': ')
  const said = answer === '' ? '' : ` ${entry.provider.displayName} answered ${answer}.`
  return new BrokerError('authorization_required', `${why.message}${said} ${why.toDo}`, { why })
}

/** All of the project, oldest first. */
export async function listSharedConnections(
  broker: Broker,
  projectId: string,
): Promise<readonly SharedWithEntry[]> {
  const all = await broker.store.sharedConnections.list(projectId)
  return Promise.all(all.map((shared) => withEntry(broker, shared)))
}

/** Throws `not_found`. */
export async function getSharedConnection(
  broker: Broker,
  projectId: string,
  id: string,
): Promise<SharedWithEntry> {
  return withEntry(broker, await getShared(broker, projectId, id))
}

async function withEntry(broker: Broker, shared: SharedConnection): Promise<SharedWithEntry> {
  const { id, projectId, providerUid } = shared
  const entry = await findProviderByUid(broker, projectId, providerUid)
  const held = await broker.store.connections.ofOwner({ projectId, providerUid, userId: NO_USER })
  const own = held.filter(({ account }) => derivedFrom(account.id) === id)
  const isOfOthers = (connection: Connection) =>
    entry?.provider.credentials !== undefined &&
    connection.providerIdentity !== providerIdentity(broker, entry)
  const trouble =
    own.find(({ status }) => status === 'needs_authorization')?.statusReason ??
    (own.some(isOfOthers) ? 'provider_changed' : undefined)
  return { shared, entry, trouble }
}

/** With whom it is shared, as far as that changes: `null` takes a limit away, and what is left out stays. */
export interface SharingChange {
  readonly users?: readonly string[] | undefined
  readonly agents?: readonly string[] | null | undefined
  readonly tools?: readonly string[] | null | undefined
}

/**
 * Changes the name, with whom it is shared, or its key, which is checked as a new one. Its tokens are forgotten with that.
 * Throws `not_found`, `already_exists`, and for the key what `addSharedConnection` throws.
 */
export async function changeSharedConnection(
  broker: Broker,
  projectId: string,
  id: string,
  {
    name,
    sharedWith,
    fields,
  }: {
    readonly name?: string | undefined
    readonly sharedWith?: SharingChange | undefined
    readonly fields?: ConnectionValues | undefined
  },
): Promise<SharedWithEntry> {
  const read = () => getShared(broker, projectId, id)
  const first = await read()
  const key = fields && (await sharedKey(broker, await entryOf(broker, first), first, fields))
  const shared = await changeRow(`The shared connection "${id}"`, first, read, async (before) => {
    const to = {
      ...before,
      name: name ?? before.name,
      sharedWith: changedSharing(before.sharedWith, sharedWith),
      updatedAt: broker.now(),
    }
    const audit = broker.audit.of(projectId, {
      action: 'shared_connection.changed',
      subject: id,
      ...(key && { detail: 'key replaced' }),
    })
    return broker.store.sharedConnections.change(before, to, audit, key).catch((error: unknown) => {
      if (error instanceof BrokerError && error.code === 'already_exists') throw nameTaken(undefined, to.name)
      throw error
    })
  })
  return withEntry(broker, shared)
}

function changedSharing(before: SharedWith, change: SharingChange = {}): SharedWith {
  const { users = before.users, agents = before.agents, tools = before.tools } = change
  return { users, ...(agents && { agents }), ...(tools && { tools }) }
}

/** Asks for a new token, or has the service check the key. Throws `not_found`, and what asking for a token throws. */
export async function testSharedConnection(
  broker: Broker,
  projectId: string,
  id: string,
): Promise<SharedWithEntry> {
  const shared = await getShared(broker, projectId, id)
  const entry = await entryOf(broker, shared)
  if (entry.provider.credentials !== undefined) await testKey(broker, entry, shared)
  else {
    await broker.store.sharedConnections.forgetTokens(shared)
    await tryToken(broker, entry, shared)
  }
  return { shared, entry }
}

async function entryOf(broker: Broker, shared: SharedConnection): Promise<ProviderEntry> {
  const entry = await findProviderByUid(broker, shared.projectId, shared.providerUid)
  if (entry === undefined) throw noShared(shared.id)
  return requireActive(entry)
}

/** Deletes it with its tokens. Throws `not_found`. */
export async function deleteSharedConnection(broker: Broker, projectId: string, id: string): Promise<void> {
  const audit = broker.audit.of(projectId, { action: 'shared_connection.deleted', subject: id })
  if (!(await broker.store.sharedConnections.delete({ projectId, id }, audit))) throw noShared(id)
}

function nameTaken(entry: ProviderEntry | undefined, name: string): BrokerError {
  return new BrokerError(
    'already_exists',
    `${entry?.provider.displayName ?? 'The provider'} has a connection of the project named "${name}" already. Choose another name, or change that one.`,
  )
}
