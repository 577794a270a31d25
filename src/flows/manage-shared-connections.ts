import type { Broker } from '../broker.ts'
import { BrokerError, invalidMember } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import type { SharedConnection, SharedWith } from '../domain/shared-connection.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { isUserless, ownerOf } from '../providers/provider-grant.ts'
import { changeRow } from '../services/change-row.ts'
import { unavailableError } from './get-access-token.ts'
import { findProviderByUid, getActiveProvider, registeredClient } from './get-provider.ts'
import { refreshConnection } from './refresh/refresh-connection.ts'
import { askOperator, tokenFor } from './shared-token.ts'

// Connections of the project, which administrators make, share and delete.

/** A shared connection with its provider; absent if that was removed meanwhile. */
export interface SharedWithEntry {
  readonly shared: SharedConnection
  readonly entry: ProviderEntry | undefined
}

/**
 * Adds a connection of the project once its provider has given a token for it. Throws `invalid_request` for a provider
 * whose connections are users', `already_exists`, and what asking for a token throws.
 */
export async function addSharedConnection(
  broker: Broker,
  projectId: string,
  {
    provider,
    name,
    scopes,
    sharedWith,
  }: {
    readonly provider: string
    readonly name: string
    readonly scopes?: readonly string[] | undefined
    readonly sharedWith: SharedWith
  },
): Promise<SharedWithEntry> {
  const entry = await getActiveProvider(broker, projectId, { id: provider })
  if (ownerOf(entry.provider) === 'user')
    throw invalidMember(
      'owner',
      'conflict',
      `The connections of "${entry.id}" are users'. An administrator can set its owner to project or either: PATCH /v1/admin/auth_providers/${entry.id}.`,
    )
  if (!isUserless(entry.provider))
    throw invalidMember(
      'provider_id',
      'not_allowed',
      `A connection of the project to "${entry.id}" would need a person's consent, which cannot be given here yet.`,
    )
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
  try {
    await tryToken(broker, entry, wanted)
    const audit = broker.audit.of(projectId, {
      action: 'shared_connection.added',
      providerId: entry.id,
      subject: wanted.id,
    })
    const shared = await broker.store.sharedConnections.add(wanted, audit)
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
  if (asked.outcome === 'authorization_required') throw askOperator(entry)
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
  return withEntry(broker, await find(broker, projectId, id))
}

async function withEntry(broker: Broker, shared: SharedConnection): Promise<SharedWithEntry> {
  return { shared, entry: await findProviderByUid(broker, shared.projectId, shared.providerUid) }
}

/** With whom it is shared, as far as that changes: `null` takes a limit away, and what is left out stays. */
export interface SharingChange {
  readonly users?: readonly string[] | undefined
  readonly agents?: readonly string[] | null | undefined
  readonly tools?: readonly string[] | null | undefined
}

/**
 * Changes the name, or with whom it is shared. Its tokens are forgotten with that. Throws `not_found`, `already_exists`.
 */
export async function changeSharedConnection(
  broker: Broker,
  projectId: string,
  id: string,
  {
    name,
    sharedWith,
  }: { readonly name?: string | undefined; readonly sharedWith?: SharingChange | undefined },
): Promise<SharedWithEntry> {
  const read = () => find(broker, projectId, id)
  const shared = await changeRow(`The shared connection "${id}"`, await read(), read, async (before) => {
    const to = {
      ...before,
      name: name ?? before.name,
      sharedWith: changedSharing(before.sharedWith, sharedWith),
      updatedAt: broker.now(),
    }
    const audit = broker.audit.of(projectId, { action: 'shared_connection.changed', subject: id })
    return broker.store.sharedConnections.change(before, to, audit).catch((error: unknown) => {
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

/** Forgets its tokens and asks for a new one. Throws `not_found`, and what asking for a token throws. */
export async function testSharedConnection(
  broker: Broker,
  projectId: string,
  id: string,
): Promise<SharedWithEntry> {
  const shared = await find(broker, projectId, id)
  const { entry } = await withEntry(broker, shared)
  if (entry === undefined) throw notFound(id)
  await broker.store.sharedConnections.forgetTokens(shared)
  await tryToken(broker, entry, shared)
  return { shared, entry }
}

/** Deletes it with its tokens. Throws `not_found`. */
export async function deleteSharedConnection(broker: Broker, projectId: string, id: string): Promise<void> {
  const audit = broker.audit.of(projectId, { action: 'shared_connection.deleted', subject: id })
  if (!(await broker.store.sharedConnections.delete({ projectId, id }, audit))) throw notFound(id)
}

async function find({ store }: Broker, projectId: string, id: string): Promise<SharedConnection> {
  const found = await store.sharedConnections.find(projectId, id)
  if (found === undefined) throw notFound(id)
  return found
}

function notFound(id: string): BrokerError {
  return new BrokerError(
    'not_found',
    `There is no connection of the project with the id "${id}". GET /v1/admin/connections lists those there are.`,
  )
}

function nameTaken(entry: ProviderEntry | undefined, name: string): BrokerError {
  return new BrokerError(
    'already_exists',
    `${entry?.provider.displayName ?? 'The provider'} has a connection of the project named "${name}" already. Choose another name, or change that one.`,
  )
}
