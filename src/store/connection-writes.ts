import { and, eq, inArray, like, sql } from 'drizzle-orm'
import { type Connection, type ConnectionEnding, isScopeSet, scopeSetsOf } from '../domain/connection.ts'
import { derivedAccountId } from '../domain/derived-account.ts'
import { NO_USER } from '../domain/shared-connection.ts'
import type { Announce, ConnectionOwner } from './changes.ts'
import { connectionChange, connectionColumns, ownedBy, ownerOf } from './connection-row.ts'
import type { Database } from './database.ts'
import { NO_LEASE } from './lease.ts'
import { conflictTarget, withoutOwnerBits } from './partitions.ts'
import { alreadyAdded } from './retry.ts'
import { hasId, isOfUser } from './row-conditions.ts'
import type { Tables } from './schema.ts'
import { type ById, type OfUser, placeholdersOf, type Steps, withoutRows } from './statement.ts'

/** Gives connections whose provider identity is one of `from` the identity `to`, so that their tokens stay usable. */
export interface IdentityChange {
  /** Does not contain `to`. */
  readonly from: readonly string[]
  readonly to: string
}

/** `eventSeq`: the number that a feature gave to the deletion. */
export type DeletedConnection = Connection & { readonly eventSeq?: number }

/** Tokens that are deleted because the connection was whose token was exchanged for them. */
const WITH_SUBJECT = { by: 'operator', revocation: 'not_attempted' } as const satisfies ConnectionEnding

/** How many connections one statement gives a new provider identity: PostgreSQL ends a statement after 10 s. */
const REIDENTIFIED_AT_ONCE = 5_000

/** The writes of connections that other nouns make part of their transactions. */
export function connectionWrites(database: Database) {
  const { tables, query, statement, followUp, dialect, isDistributed } = database
  const { connections, connectionTools, providers } = tables

  /**
   * The owner's connections. Their rows stay locked until the transaction ends, so that exactly
   * one stays the default. If two transactions both add an owner's first connection, the unique index makes one of them
   * wait and run again.
   */
  const lockOwned = statement((p: ConnectionOwner) =>
    dialect.lock(
      query
        .select({
          id: connections.id,
          scopes: connections.scopes,
          status: connections.status,
          providerIdentity: connections.providerIdentity,
          consentedAt: connections.consentedAt,
        })
        .from(connections)
        .where(ownedBy(connections, p)),
      'for update',
      connections.id,
    ),
  )
  const markDefault = statement((p: ById) =>
    query
      .update(connections)
      .set({ isDefault: true })
      .where(hasId(connections, p))
      .returning(connectionColumns(connections)),
  )
  const unmarkDefault = statement((p: ConnectionOwner) =>
    query
      .update(connections)
      .set({ isDefault: false })
      .where(and(ownedBy(connections, p), eq(connections.isDefault, true)))
      .returning({ id: connections.id }),
  )
  /** Gives some connections of the entry the identity `to`. Returns none once no connection has the identity `from`. */
  const reidentifySome = statement((p: { providerUid: string; from: string; to: string }) => {
    const some = query
      .select({ id: connections.id })
      .from(connections)
      .where(and(eq(connections.providerUid, p.providerUid), eq(connections.providerIdentity, p.from)))
      .limit(REIDENTIFIED_AT_ONCE)
    return query
      .update(connections)
      .set({ providerIdentity: p.to })
      .where(and(inArray(connections.id, some), eq(connections.providerIdentity, p.from)))
      .returning({ id: connections.id })
  })
  const byId = statement((p: ById) =>
    query.select(connectionColumns(connections)).from(connections).where(hasId(connections, p)),
  )
  const derived = statement((p: OfUser & { accounts: string }) =>
    query
      .select({
        id: connections.id,
        projectId: connections.projectId,
        userId: connections.userId,
        providerUid: connections.providerUid,
      })
      .from(connections)
      .where(and(isOfUser(connections, p), like(connections.accountId, p.accounts))),
  )
  const removeRow = statement((p: ById) =>
    query.delete(connections).where(hasId(connections, p)).returning({ id: connections.id }),
  )
  const removeTools = statement((p: ById & Pick<ConnectionOwner, 'projectId' | 'userId'>) =>
    query
      .delete(connectionTools)
      .where(
        and(
          eq(connectionTools.projectId, p.projectId),
          eq(connectionTools.userId, p.userId),
          eq(connectionTools.connectionId, p.id),
        ),
      )
      .returning({ tool: connectionTools.tool }),
  )
  /** The lock lasts until the connection is stored: a deletion of the provider then deletes the connection too. */
  const lockProvider = statement((p: { uid: string }) =>
    dialect.lock(
      query.select({ uid: providers.uid }).from(providers).where(eq(providers.uid, p.uid)),
      'for key share',
    ),
  )
  const upsert = statement((_: Tables['connections']['$inferInsert']) => {
    const row = placeholdersOf(connections)
    const {
      id: __,
      projectId,
      providerUid,
      userId,
      createdAt,
      lastUsedAt,
      eventSeq,
      ...renewed
    } = withoutOwnerBits(row)
    const isRefreshKept = sql`excluded.refresh is null and excluded.provider_identity = ${connections.providerIdentity}`
    // with `returning` it took 25 to 50 us more of the 160 to 200 in a server on SQLite (2026-11-29)
    return withoutRows(
      query
        .insert(connections)
        .values(row)
        .onConflictDoUpdate({
          target: conflictTarget(connections, connections.id),
          set: {
            ...renewed,
            status: 'active',
            statusReason: null,
            refresh: sql`case when ${isRefreshKept} then ${connections.refresh} else excluded.refresh end`,
            refreshExpiresAt: sql`case when ${isRefreshKept} then ${connections.refreshExpiresAt} else excluded.refresh_expires_at end`,
            refreshAt: sql`coalesce(excluded.refresh_at, case when ${isRefreshKept} then ${connections.refreshAt} end)`,
            isDefault: sql`excluded.is_default or ${connections.isDefault}`,
            generation: sql`${connections.generation} + 1`,
            ...NO_LEASE,
            unansweredRefreshes: 0,
          },
        }),
    )
  })

  /** Gives all connections of the entry their new identity, in the caller's transaction. */
  function* reidentify(providerUid: string, { from, to }: IdentityChange): Steps<void> {
    for (const former of from) while ((yield* reidentifySome({ providerUid, from: former, to })).length > 0);
  }

  /** Deletes a connection, and returns it as it was; `undefined` if there is none. */
  function* remove(
    announce: Announce,
    known: ConnectionOwner & ById,
    ending: ConnectionEnding,
  ): Steps<DeletedConnection | undefined> {
    const { id } = known
    const left = (yield* lockOwned(ownerOf(known))).filter((row) => row.id !== id)
    const [gone] = yield* byId({ id }) // read again, now that the row is locked
    if (gone === undefined) return undefined
    const eventSeq = yield* followUp(announce, { kind: 'connection deleted', connection: gone, ending })
    yield* removeRow({ id })
    yield* removeTools({ ...ownerOf(gone), id })
    const [oldest] = left.sort((a, b) => (a.id < b.id ? -1 : 1))
    if (gone.isDefault && oldest !== undefined) yield* markDefault(oldest)
    announce(connectionChange(gone))
    return { ...gone, ...(eventSeq !== undefined && { eventSeq }) }
  }

  /** Deletes the user's tokens for which a token of this connection was exchanged (RFC 8693), and those of its scope sets. */
  function* removeDerived(
    announce: Announce,
    subject: Pick<Connection, 'id' | 'projectId' | 'userId'>,
  ): Steps<void> {
    const { id, projectId, userId } = subject
    if (userId === NO_USER) return
    for (const from of [id, scopeSetsOf(id)])
      for (const row of yield* derived({ projectId, userId, accounts: derivedAccountId(from, '%') }))
        yield* remove(announce, row, WITH_SUBJECT)
  }

  /**
   * Writes the tokens of a new consent. If the response had no refresh token, the stored one is kept with its times, since
   * some providers give it on the first consent only. It is not kept when the provider's identity has changed, since it
   * then belongs to another server or client. The tokens of a consent that the user began later are not overwritten.
   */
  function* put(
    announce: Announce,
    connection: Connection,
    { makeDefault }: { readonly makeDefault: boolean },
  ): Steps<void> {
    if (isDistributed && (yield* lockProvider({ uid: connection.providerUid })).length === 0)
      throw alreadyAdded(new Error('the provider was deleted')) // as by the foreign key of other databases
    const owned = yield* lockOwned(ownerOf(connection))
    const isFirst = owned.length === 0
    const before = owned.find(({ id }) => id === connection.id)
    if (before !== undefined && isNewerConsent(before, connection)) return
    // the new consent may be of another account
    if (before !== undefined) yield* removeDerived(announce, connection)
    const isDefault = isFirst || makeDefault
    if (isDefault && !isFirst) yield* unmarkDefault(ownerOf(connection))
    const { account, ...rest } = connection
    yield* upsert({ ...rest, accountId: account.id, accountName: account.name, isDefault })
    // no user has connected anything
    if (connection.userId === NO_USER || isScopeSet(connection)) return
    yield* followUp(announce, { kind: 'connection stored', connection, scopesBefore: before?.scopes })
  }

  return {
    lockProvider,
    lockOwned,
    markDefault,
    unmarkDefault,
    reidentifySome,
    reidentify,
    put,
    remove,
    removeDerived,
  }
}

type Consented = Pick<Connection, 'status' | 'providerIdentity' | 'consentedAt'>

/** Whether the stored tokens are usable and of a consent that the user began later. */
function isNewerConsent(stored: Consented, { providerIdentity, consentedAt }: Consented): boolean {
  return (
    stored.status === 'active' &&
    stored.providerIdentity === providerIdentity &&
    stored.consentedAt > consentedAt
  )
}
