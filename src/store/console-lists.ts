import { and, count, eq, gte, lt, ne, notLike, sql } from 'drizzle-orm'
import type { Authorization } from '../domain/authorization.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Connection } from '../domain/connection.ts'
import { firstIdAt } from '../domain/ids.ts'
import { NO_USER } from '../domain/shared-connection.ts'
import { type Browsed, createBrowse, type ListPosition } from './browse.ts'
import { SCOPE_SETS } from './connection-row.ts'
import type { Database } from './database.ts'
import { MOST_COUNTED } from './page.ts'
import { isOfUser } from './row-conditions.ts'
import { type OfProject, variantsOf } from './statement.ts'

/** A connection as lists show it, without its sealed tokens. */
export type ListedConnection = Pick<
  Connection,
  | 'id'
  | 'userId'
  | 'providerUid'
  | 'account'
  | 'status'
  | 'statusReason'
  | 'scopes'
  | 'createdAt'
  | 'lastUsedAt'
  | 'isDefault'
>

export interface ListedAuthorization
  extends Pick<Authorization, 'id' | 'userId' | 'status' | 'steps' | 'step' | 'requester' | 'createdAt'> {
  readonly expiresAt: number
  readonly completedAt?: number
  readonly reason?: string
}

/** At most one filter: each has an index that gives its rows in the order of time. */
export type ConnectionIndex =
  | { readonly userId: string }
  | { readonly providerUid: string }
  | { readonly status: Connection['status'] }
  | Record<never, never>

/**
 * Lists of the console, the newest first, read by an index alone: without counts and offsets, long lists stay fast. Of
 * connections they have what users connected: no tokens of shared connections, nor of some scopes of an installation.
 */
export interface ConsoleLists {
  connections(
    projectId: string,
    by: ConnectionIndex,
    place: ListPosition,
    limit: number,
  ): Promise<Browsed<ListedConnection>>
  authorizations(
    projectId: string,
    by: { readonly status?: Authorization['status'] },
    place: ListPosition,
    limit: number,
  ): Promise<Browsed<ListedAuthorization>>
  /** The number of connections made from `from` to before `to`, at most `MOST_COUNTED` + 1. */
  countConnections(projectId: string, from: EpochSeconds, to: EpochSeconds): Promise<number>
}

interface ByConnection {
  readonly projectId: string
  readonly userId: string
  readonly providerUid: string
  readonly status: Connection['status']
}

export function createConsoleLists(database: Database): ConsoleLists {
  const { tables, query, statement, read } = database
  const { authorizations, connections } = tables

  const connectionsBy = variantsOf((by: 'all' | 'user' | 'provider' | 'status') =>
    createBrowse(database, {
      key: connections.id,
      matching: (p: ByConnection) =>
        and(
          notLike(connections.accountId, SCOPE_SETS),
          by === 'user' ? isOfUser(connections, p) : ne(connections.userId, NO_USER),
          by === 'provider' ? eq(connections.providerUid, p.providerUid) : undefined,
          by === 'all' || by === 'status' ? eq(connections.projectId, p.projectId) : undefined,
          by === 'status' ? eq(connections.status, p.status) : undefined,
        ),
      select: (where, order) =>
        query
          .select({
            id: connections.id,
            userId: connections.userId,
            providerUid: connections.providerUid,
            account: { id: connections.accountId, name: connections.accountName },
            status: connections.status,
            statusReason: connections.statusReason,
            scopes: connections.scopes,
            createdAt: connections.createdAt,
            lastUsedAt: connections.lastUsedAt,
            isDefault: connections.isDefault,
          })
          .from(connections)
          .where(where)
          .orderBy(order),
      keyOf: ({ id }) => id,
    }),
  )
  const counted = statement((p: OfProject & { from: string; to: string; most: number }) =>
    query.select({ total: count() }).from(
      query
        .select({ one: sql`1`.as('one') })
        .from(connections)
        .where(
          and(eq(connections.projectId, p.projectId), gte(connections.id, p.from), lt(connections.id, p.to)),
        )
        .limit(p.most)
        .as('counted'),
    ),
  )
  const authorizationsBy = variantsOf((by: 'all' | 'status') =>
    createBrowse(database, {
      key: authorizations.id,
      matching: (p: OfProject & { status: Authorization['status'] }) =>
        and(
          eq(authorizations.projectId, p.projectId),
          by === 'status' ? eq(authorizations.status, p.status) : undefined,
        ),
      select: (where, order) =>
        query
          .select({
            id: authorizations.id,
            userId: authorizations.userId,
            status: authorizations.status,
            steps: authorizations.steps,
            step: authorizations.step,
            requester: authorizations.requester,
            reason: authorizations.reason,
            createdAt: authorizations.createdAt,
            expiresAt: authorizations.expiresAt,
            completedAt: authorizations.completedAt,
          })
          .from(authorizations)
          .where(where)
          .orderBy(order),
      keyOf: ({ id }) => id,
    }),
  )

  return {
    async connections(projectId, by, place, limit) {
      const userId = 'userId' in by ? by.userId : ''
      const providerUid = 'providerUid' in by ? by.providerUid : ''
      const status = 'status' in by ? by.status : 'active'
      const index =
        'userId' in by ? 'user' : 'providerUid' in by ? 'provider' : 'status' in by ? 'status' : 'all'
      return connectionsBy(index)({ projectId, userId, providerUid, status }, place, limit)
    },
    async authorizations(projectId, { status }, place, limit) {
      const browse = authorizationsBy(status === undefined ? 'all' : 'status')
      return browse({ projectId, status: status ?? 'pending' }, place, limit)
    },
    async countConnections(projectId, from, to) {
      const ids = { from: firstIdAt('conn', from), to: firstIdAt('conn', to) }
      return (await read(counted({ projectId, ...ids, most: MOST_COUNTED + 1 })))[0]?.total ?? 0
    },
  }
}
