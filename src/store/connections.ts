import { and, desc, eq, isNotNull, ne, notLike, sql } from 'drizzle-orm'
import type { Connection, ConnectionEnding } from '../domain/connection.ts'
import { NO_USER } from '../domain/shared-connection.ts'
import type { AuditEntries } from './audit-entries.ts'
import { type ConnectionOwner, rowChange } from './changes.ts'
import {
  type ClaimedConnection,
  type ConnectionRefreshes,
  createConnectionRefreshes,
} from './connection-refreshes.ts'
import { connectionChange, connectionColumns, ownedBy, ownerOf, SCOPE_SETS } from './connection-row.ts'
import { connectionWrites, type DeletedConnection, type IdentityChange } from './connection-writes.ts'
import type { Database } from './database.ts'
import { createLastUse, type WriteLastUse } from './last-use.ts'
import { createPages, type Page, type PageRequest } from './page.ts'
import { bitsOfOwners, inPartitions, type SeveralOwners } from './partitions.ts'
import { readTogether } from './read-together.ts'
import { hasId, isOfUser } from './row-conditions.ts'
import { type ById, type OfUser, variantsOf } from './statement.ts'
import { inSlices } from './sweep.ts'
import { writeRow } from './write-row.ts'

export interface Connections extends ConnectionRefreshes {
  find(id: string): Promise<Connection | undefined>
  /** All connections of one user at one provider, the default first. */
  ofOwner(owner: ConnectionOwner): Promise<readonly Connection[]>
  /** What each of the user's connections grants, without tokens. The default connections come first. */
  grantsOfUser(projectId: string, userId: string): Promise<readonly Grant[]>
  list(
    projectId: string,
    filter: { readonly userId?: string; readonly providerUid?: string },
    page: PageRequest,
  ): Promise<Page<Connection>>
  /** What went wrong since the last good refresh or consent (`domain/trail.ts`); `undefined`: nothing. */
  trail(id: string): Promise<string | undefined>
  /** Whether there is a connection of this provider entry with this provider identity. */
  hasIdentity(providerUid: string, identity: string): Promise<boolean>
  /** The connections that have a trail, with it, the newest first. */
  troubled(projectId: string, limit: number): Promise<readonly ClaimedConnection[]>
  makeDefault(id: string, audit?: AuditEntries): Promise<void>
  /**
   * Stores an imported connection. If the user already has a connection of that account, nothing is written and the result
   * is `present`; but with `replaces` a connection of the same id is renewed as by a new consent.
   */
  addImported(
    connection: Connection,
    options: { readonly replaces: boolean; readonly makeDefault: boolean },
    audit?: AuditEntries,
  ): Promise<'created' | 'replaced' | 'present'>
  /**
   * Changes the provider identity of the entry's connections as `change` says, in several transactions; returns how many.
   * After an interruption the next call changes the rest.
   */
  reidentify(
    entry: Pick<ConnectionOwner, 'projectId' | 'providerUid'>,
    change: IdentityChange,
  ): Promise<number>
  /** Writes when each connection was last used, by id. A later time that is already stored stays. */
  readonly used: WriteLastUse
  /** Deletes the connection and returns it, so that it can be revoked at the provider. */
  delete(id: string, audit?: AuditEntries, ending?: ConnectionEnding): Promise<DeletedConnection | undefined>
  /** Tells features how the provider answered the request to revoke a deleted connection. */
  revoked(
    gone: DeletedConnection,
    by: ConnectionEnding['by'],
    revocation: 'revoked' | 'failed' | 'unsupported',
  ): Promise<void>
}

/** What decides whether a connection meets a requirement. */
export interface Grant
  extends Pick<
    Connection,
    'id' | 'providerUid' | 'status' | 'providerIdentity' | 'scopes' | 'expiresAt' | 'isDefault'
  > {
  readonly canRefresh: boolean
}

export function createConnections(database: Database): Connections {
  const { tables, query, statement, read, write, followUp, dialect } = database
  const { connections } = tables
  const columns = connectionColumns(connections)
  const { lockOwned, markDefault, unmarkDefault, reidentifySome, put, remove, removeDerived } =
    connectionWrites(database)

  const byId = statement((p: ById) => query.select(columns).from(connections).where(hasId(connections, p)))
  const byOwner = statement((p: ConnectionOwner) =>
    query.select(columns).from(connections).where(ownedBy(connections, p)),
  )
  const ownerKey = [connections.projectId, connections.providerUid, connections.userId]
  const byOwners = statement((p: SeveralOwners & { owners: readonly (readonly string[])[] }) =>
    query
      .select(columns)
      .from(connections)
      .where(and(dialect.isOneOf?.(ownerKey, p.owners), inPartitions(connections, p))),
  )
  const readOwner = async (owner: ConnectionOwner) => read(byOwner(owner))
  const readOwners = readTogether<ConnectionOwner, Connection>(async (owners) => {
    const [only, ...others] = owners
    if (only !== undefined && others.length === 0) return [await readOwner(only)]
    const found = await read(byOwners({ owners: owners.map(keyOf), ...bitsOfOwners(owners) }))
    const rows = Map.groupBy(found, (row) => keyOf(row).join('\n'))
    return owners.map((owner) => rows.get(keyOf(owner).join('\n')) ?? [])
  }, database.parts?.isUnavailable)
  const granted = statement((p: OfUser) => {
    const { id, providerUid, status, providerIdentity, scopes, expiresAt, isDefault } = columns
    const canRefresh = sql<boolean>`${connections.refresh} is not null`.mapWith(Boolean)
    return query
      .select({ id, providerUid, status, providerIdentity, scopes, expiresAt, isDefault, canRefresh })
      .from(connections)
      .where(isOfUser(connections, p))
  })
  const listed = variantsOf((filter: string) => {
    const matching = (p: ConnectionOwner) =>
      and(
        notLike(connections.accountId, SCOPE_SETS),
        filter.includes('user')
          ? isOfUser(connections, p)
          : and(eq(connections.projectId, p.projectId), ne(connections.userId, NO_USER)),
        filter.includes('provider') ? eq(connections.providerUid, p.providerUid) : undefined,
      )
    return createPages(database, {
      table: connections,
      key: connections.id,
      order: 'ascending',
      matching,
      select: (where, order) => query.select(columns).from(connections).where(where).orderBy(order),
      keyOf: ({ id }) => id,
    })
  })
  const ofAccount = statement((p: ConnectionOwner & { accountId: string }) =>
    query
      .select({ id: connections.id })
      .from(connections)
      .where(and(ownedBy(connections, p), eq(connections.accountId, p.accountId))),
  )
  const trail = statement((p: ById) =>
    query.select({ trail: connections.trail }).from(connections).where(hasId(connections, p)),
  )
  const ofIdentity = statement((p: { providerUid: string; identity: string }) =>
    query
      .select({ id: connections.id })
      .from(connections)
      .where(and(eq(connections.providerUid, p.providerUid), eq(connections.providerIdentity, p.identity)))
      .limit(1),
  )
  const hasIdentity = async (providerUid: string, identity: string) =>
    (await read(ofIdentity({ providerUid, identity }))).length > 0
  const troubled = statement((p: { projectId: string; limit: number }) =>
    query
      .select({ ...columns, trail: connections.trail })
      .from(connections)
      .where(and(eq(connections.projectId, p.projectId), isNotNull(connections.trail)))
      .orderBy(desc(connections.id))
      .limit(p.limit),
  )

  return {
    ...createConnectionRefreshes(database),
    async find(id) {
      return (await read(byId({ id })))[0]
    },
    async ofOwner(owner) {
      const canShareRead = dialect.isOneOf !== undefined && keyOf(owner).every(isStorable)
      const found = await (canShareRead ? readOwners(owner) : readOwner(owner))
      return found.length > 1 ? [...found].sort(byDefaultThenAge) : found
    },
    async grantsOfUser(projectId, userId) {
      return [...(await read(granted({ projectId, userId })))].sort(byDefaultThenAge)
    },
    async list(projectId, { userId = '', providerUid = '' }, page) {
      const pageOf = listed(`${userId && 'user'} ${providerUid && 'provider'}`)
      return pageOf({ projectId, userId, providerUid }, page)
    },
    async trail(id) {
      return (await read(trail({ id })))[0]?.trail
    },
    hasIdentity,
    async troubled(projectId, limit) {
      return read(troubled({ projectId, limit }))
    },

    async makeDefault(id, audit) {
      await writeRow(write, audit, connectionChange, function* () {
        const [chosen] = yield* byId({ id })
        if (chosen === undefined) return []
        const all = yield* lockOwned(ownerOf(chosen))
        if (!all.some((row) => row.id === id)) return [] // deleted meanwhile
        yield* unmarkDefault(ownerOf(chosen))
        return yield* markDefault({ id })
      })
    },
    async addImported(connection, { replaces, makeDefault }, audit) {
      const owner = ownerOf(connection)
      const written = await write(audit, function* (announce) {
        const [known] = yield* ofAccount({ ...owner, accountId: connection.account.id })
        if (known !== undefined && (!replaces || known.id !== connection.id)) return undefined
        yield* put(announce, connection, { makeDefault })
        announce(connectionChange(connection))
        return known === undefined ? ('created' as const) : ('replaced' as const)
      })
      return written ?? 'present'
    },
    async reidentify({ projectId, providerUid }, { from, to }) {
      let changed = 0
      for (const former of from) {
        // each start of Gatepass calls this for every entry, so most calls must cost no transaction
        if (!(await hasIdentity(providerUid, former))) continue
        changed += await inSlices(() =>
          write(undefined, function* (announce) {
            const rows = yield* reidentifySome({ providerUid, from: former, to })
            if (rows.length > 0) announce(rowChange('provider', projectId, [providerUid]))
            return rows
          }),
        )
      }
      return changed
    },
    used: createLastUse(database, connections, 'lastUsedAt'),
    async delete(id, audit, ending = DELETED_BY_OPERATOR) {
      return write(audit, function* (announce) {
        const [known] = yield* byId({ id })
        if (known === undefined) return undefined
        const gone = yield* remove(announce, known, ending)
        if (gone !== undefined) yield* removeDerived(announce, gone)
        return gone
      })
    },
    async revoked(gone, by, revocation) {
      const { eventSeq } = gone
      if (eventSeq === undefined) return
      await write(undefined, function* (announce) {
        yield* followUp(announce, {
          kind: 'connection revoked',
          connection: gone,
          number: eventSeq,
          by,
          revocation,
        })
        return true
      })
    },
  }
}

const DELETED_BY_OPERATOR = { by: 'operator', revocation: 'not_attempted' } as const

type Ordered = Pick<Connection, 'id' | 'isDefault'>

/** Sorted here, since a read in SQLite takes four times as long if it sorts. An id begins with its time. */
function byDefaultThenAge(a: Ordered, b: Ordered): number {
  return Number(b.isDefault) - Number(a.isDefault) || (a.id < b.id ? -1 : 1)
}

function keyOf({ projectId, providerUid, userId }: ConnectionOwner): readonly string[] {
  return [projectId, providerUid, userId]
}

/** Whether PostgreSQL accepts the text. One that it refuses would fail all reads that share the statement. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
