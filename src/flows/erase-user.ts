import type { Broker } from '../broker.ts'
import { isSettled } from '../domain/authorization.ts'
import type { Connection } from '../domain/connection.ts'
import type { Revocation } from '../providers/revocation.ts'
import { failureAudit } from './authorization-audit.ts'
import { findProviderByUid } from './get-provider.ts'
import { heldForUser, revokeAll } from './held-grant.ts'
import { disconnectClient } from './mcp-clients.ts'
import { revokeConnection } from './revoke-connection.ts'
import { endSessionsOf } from './user-session.ts'

/** How many revocations are sent at once. */
const AT_ONCE = 4
const PAGE = 100

/** The user whose data is exported or erased. */
export interface DataOwner {
  readonly projectId: string
  readonly userId: string
}

/** A deleted connection, and the result of the revocation at its provider. */
export interface ErasedConnection {
  readonly providerName: string
  readonly account: string
  readonly revocation: Revocation
}

/**
 * Deletes the stored data about a user: revokes and deletes connections and MCP clients, revokes API keys that act
 * only for this user, deletes authorizations and what features keep about the user, and removes the user, inputs and outputs from
 * runs, and deletes the files that tools answered with. The audit trail stays, since its entries are chained. Paused chains, suspended calls, answers of idempotency
 * keys, unspent one-time links and connect sessions stay until they expire, since no index of their tables finds them
 * by user. After a failure, another call deletes the rest.
 */
export async function eraseUser(broker: Broker, owner: DataOwner): Promise<readonly ErasedConnection[]> {
  const { store, now } = broker
  const { projectId, userId } = owner
  await broker.audit.record(projectId, { action: 'user.erased', userId })
  await revokeKeys(broker, owner)
  const held = await heldForUser(broker, projectId, userId)
  await endAuthorizations(broker, owner)
  const erased: ErasedConnection[] = []
  // deleted connections are missing from the next page, and one that cannot be deleted throws, so the loop ends
  for (let some = await someConnections(broker, owner); some.length > 0; ) {
    for (let i = 0; i < some.length; i += AT_ONCE)
      erased.push(
        ...(await Promise.all(
          some.slice(i, i + AT_ONCE).map((connection) => eraseConnection(broker, connection)),
        )),
      )
    some = await someConnections(broker, owner)
  }
  await revokeAll(broker, held) // after the connections, whose grants they may share
  for (const { id } of await store.mcpConsents.ofUser(projectId, userId))
    await disconnectClient(broker, { projectId, id, by: 'user' })
  // queued writes would otherwise come after the deletion
  await Promise.all([broker.uses.flush(), broker.history.flush(), broker.activity.flush()])
  await store.executions.forgetUser(projectId, userId, now())
  await store.authorizations.forgetUser(projectId, userId)
  for (const { erase } of store.parts) await erase?.(store, owner, now())
  await store.connectionTools.forgetUser(projectId, userId)
  await store.storedFiles.forgetUser(owner)
  await store.users.forget(projectId, userId)
  await store.pageSessions.endOf('me', userId, projectId)
  await endSessionsOf(broker, owner)
  return erased
}

/** Revokes the user's keys. Their rows stay, because the audit trail names them. */
async function revokeKeys({ store, audit, now }: Broker, { projectId, userId }: DataOwner): Promise<void> {
  for (const { id } of await store.apiKeys.ofUser(projectId, userId)) {
    const entry = audit.of(projectId, { action: 'key.revoked', userId, subject: id })
    await store.apiKeys.revoke(projectId, id, now(), entry)
  }
}

/** Ends the user's authorizations, so that waiting requests are answered and no consent creates a connection. */
async function endAuthorizations(broker: Broker, { projectId, userId }: DataOwner): Promise<void> {
  for (let after = ''; ; ) {
    const some = await broker.store.authorizations.ofUser(projectId, userId, { after, limit: PAGE })
    for (const authorization of some)
      if (!isSettled(authorization))
        await broker.store.authorizations.fail(
          authorization.id,
          'access_denied',
          'The user has deleted everything that was kept about them.',
          broker.now(),
          undefined,
          failureAudit(broker, authorization, 'access_denied'),
        )
    if (some.length < PAGE) return
    after = some.at(-1)?.id ?? ''
  }
}

async function someConnections(broker: Broker, { projectId, userId }: DataOwner) {
  return (await broker.store.connections.list(projectId, { userId }, { offset: 0, limit: PAGE })).items
}

async function eraseConnection(broker: Broker, connection: Connection): Promise<ErasedConnection> {
  const entry = await findProviderByUid(broker, connection.projectId, connection.providerUid)
  return {
    providerName: entry?.provider.displayName ?? connection.providerUid,
    account: connection.account.name,
    revocation: await revokeConnection(broker, connection),
  }
}
