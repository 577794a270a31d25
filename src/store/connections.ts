import { and, count, eq, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Connection } from '../domain/connection.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { ConnectionOwner } from './changes.ts'
import { type ConnectionRefreshes, createConnectionRefreshes } from './connection-refreshes.ts'
import { connectionChange, connectionColumns, ownedBy, ownerOf } from './connection-row.ts'
import { connectionWrites, type KeptConnections } from './connection-writes.ts'
import type { Database } from './database.ts'
import { laterUse, type Uses, usedRows } from './last-use.ts'
import type { Page, PageRequest } from './page.ts'
import { type ById, variantsOf } from './statement.ts'
import { writeRow } from './write-row.ts'

export interface Connections extends ConnectionRefreshes {
  find(id: string): Promise<Connection | undefined>
  /** All connections of one user at one provider, the default first. */
  ofOwner(owner: ConnectionOwner): Promise<readonly Connection[]>
  list(
    projectId: string,
    filter: { readonly userId?: string; readonly providerUid?: string },
    page: PageRequest,
  ): Promise<Page<Connection>>
  makeDefault(id: string, audit?: AuditEntries): Promise<void>
  /** Does what `KeptConnections` says for all connections of a provider entry; returns how many it changed. */
  reidentify(
    entry: Pick<ConnectionOwner, 'projectId' | 'providerUid'>,
    kept: KeptConnections,
    audit?: AuditEntries,
  ): Promise<number>
  /** Writes when each connection was last used, by id. A later time that is already stored stays. */
  used(uses: ReadonlyMap<string, EpochSeconds>): Promise<void>
  /** Deletes the connection and returns it, so that it can be revoked at the provider. */
  delete(id: string, audit?: AuditEntries): Promise<Connection | undefined>
}

export function createConnections(database: Database): Connections {
  const { tables, query, statement, read, write, dialect } = database
  const { connections } = tables
  const columns = connectionColumns(connections)
  const { heirs, markDefault, unmarkDefault, reidentify } = connectionWrites(database)

  const byId = statement((p: ById) => query.select(columns).from(connections).where(eq(connections.id, p.id)))
  const byOwner = statement((p: ConnectionOwner) =>
    query.select(columns).from(connections).where(ownedBy(connections, p)),
  )
  const listed = variantsOf((filter: string) => {
    const matching = (p: ConnectionOwner) =>
      and(
        eq(connections.projectId, p.projectId),
        filter.includes('user') ? eq(connections.userId, p.userId) : undefined,
        filter.includes('provider') ? eq(connections.providerUid, p.providerUid) : undefined,
      )
    return {
      page: statement((p: ConnectionOwner & PageRequest) =>
        query
          .select(columns)
          .from(connections)
          .where(matching(p))
          .orderBy(connections.id)
          .limit(p.limit)
          .offset(p.offset),
      ),
      total: statement((p: ConnectionOwner) =>
        query.select({ total: count() }).from(connections).where(matching(p)),
      ),
    }
  })
  const remove = statement((p: ById) =>
    query.delete(connections).where(eq(connections.id, p.id)).returning({ id: connections.id }),
  )
  const use = statement((p: { uses: Uses }) =>
    query
      .update(connections)
      .set({ lastUsedAt: laterUse(connections.lastUsedAt) })
      .from(usedRows(dialect, p.uses))
      .where(sql`${connections.id} = used.key`)
      .returning({ id: connections.id }),
  )

  return {
    ...createConnectionRefreshes(database),
    async find(id) {
      return (await read(byId({ id })))[0]
    },
    async ofOwner(owner) {
      const found = await read(byOwner(owner))
      return found.length > 1 ? [...found].sort(byDefaultThenAge) : found
    },
    async list(projectId, { userId = '', providerUid = '' }, { offset, limit }) {
      const { page, total } = listed(`${userId && 'user'} ${providerUid && 'provider'}`)
      const owner = { projectId, userId, providerUid }
      const items = await read(page({ ...owner, offset, limit }))
      const [all] = await read(total(owner))
      return { items, total: all?.total ?? 0 }
    },

    async makeDefault(id, audit) {
      await writeRow(write, audit, connectionChange, function* () {
        const [chosen] = yield* byId({ id })
        if (chosen === undefined) return []
        const all = yield* heirs(ownerOf(chosen))
        if (!all.some((one) => one.id === id)) return [] // deleted meanwhile
        yield* unmarkDefault(ownerOf(chosen))
        return yield* markDefault({ id })
      })
    },
    async reidentify(entry, kept, audit) {
      const changed = await write(audit, function* (announce) {
        const rows = yield* reidentify({ ...entry, ...kept })
        if (rows.length === 0) return undefined
        announce({ noun: 'provider' })
        return rows.length
      })
      return changed ?? 0
    },
    async used(uses) {
      await write(undefined, () => use({ uses: Object.fromEntries(uses) }))
    },
    async delete(id, audit) {
      return writeRow(write, audit, connectionChange, function* () {
        const [known] = yield* byId({ id })
        if (known === undefined) return []
        const left = (yield* heirs(ownerOf(known))).filter((one) => one.id !== id)
        const [gone] = yield* byId({ id }) // again, now that it is locked
        if (gone === undefined) return []
        yield* remove({ id })
        const [heir] = left
        if (gone.isDefault && heir !== undefined) yield* markDefault(heir)
        return [gone]
      })
    },
  }
}

/** Sorted here: SQLite needs four times as long for a connection when it sorts. An id begins with its time. */
function byDefaultThenAge(a: Connection, b: Connection): number {
  return Number(b.isDefault) - Number(a.isDefault) || (a.id < b.id ? -1 : 1)
}
