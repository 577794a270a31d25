import { isDeepStrictEqual } from 'node:util'
import { and, eq, gt, inArray, sql } from 'drizzle-orm'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import type { AuditEntries } from './audit-entries.ts'
import { type Announce, rowChange } from './changes.ts'
import { connectionChange } from './connection-row.ts'
import { connectionWrites, type IdentityChange } from './connection-writes.ts'
import type { Database } from './database.ts'
import { hasIdInProject } from './row-conditions.ts'
import { type RowPage, rowPage } from './row-page.ts'
import { type InProject, type OfProject, placeholdersOf, type Steps } from './statement.ts'
import { writeRow } from './write-row.ts'

/** How many connections are deleted in one commit: a provider may have millions. */
const CONNECTIONS_AT_ONCE = 50

export interface Providers {
  /** Adds the entry, or returns `undefined` when its `id` is taken in the project. */
  add(entry: ProviderEntry, audit?: AuditEntries): Promise<ProviderEntry | undefined>
  /**
   * Replaces the entry and returns the row. `undefined`, with nothing written, when the row is no longer `from`, or
   * was deleted. Its `updatedAt` rises by at least a second. `identity` keeps connections usable when the
   * provider identity of the entry changes, in the same transaction.
   */
  change(
    from: ProviderEntry,
    to: ProviderEntry,
    audit?: AuditEntries,
    identity?: IdentityChange,
  ): Promise<ProviderEntry | undefined>
  findByUid(uid: string): Promise<ProviderEntry | undefined>
  findById(projectId: string, id: string): Promise<ProviderEntry | undefined>
  list(projectId: string): Promise<readonly ProviderEntry[]>
  /** The entries after the uid `after`, in the order of their uids. */
  page(projectId: string, after: string, limit: number): Promise<RowPage<ProviderEntry>>
  /** The entries with these uids, as far as they exist. */
  byUids(projectId: string, uids: readonly string[]): Promise<readonly ProviderEntry[]>
  /**
   * Deletes the entry with its connections. A pending authorization at this provider fails at its next step. Most
   * connections are deleted before the entry, a few in each commit; if the process ends in between, the entry still
   * exists.
   */
  delete(projectId: string, id: string, audit?: AuditEntries): Promise<boolean>
}

export function createProviders(database: Database): Providers {
  const { tables, query, statement, read, write, followUp, dialect, isDistributed } = database
  const { connections, providers } = tables
  const { reidentify } = connectionWrites(database)
  const { locked, update } = entryStatements(database)

  const byUid = statement((p: { uid: string }) =>
    query.select().from(providers).where(eq(providers.uid, p.uid)),
  )
  const byId = statement((p: InProject) => query.select().from(providers).where(hasIdInProject(providers, p)))
  const ofProject = statement((p: OfProject) =>
    query.select().from(providers).where(eq(providers.projectId, p.projectId)).orderBy(providers.uid),
  )
  const pageAfter = statement((p: OfProject & { after: string; limit: number }) =>
    query
      .select()
      .from(providers)
      .where(and(eq(providers.projectId, p.projectId), gt(providers.uid, p.after)))
      .orderBy(providers.uid)
      .limit(p.limit),
  )
  const ofUids = statement((p: OfProject & { uids: readonly string[] }) =>
    query
      .select()
      .from(providers)
      .where(
        and(
          eq(providers.projectId, p.projectId),
          sql`${providers.uid} in (select value from ${dialect.elementsOf(p.uids)})`,
        ),
      ),
  )
  const insert = statement((_: ProviderEntry) =>
    query.insert(providers).values(placeholdersOf(providers)).onConflictDoNothing().returning(),
  )
  const remove = statement((p: InProject) =>
    query.delete(providers).where(hasIdInProject(providers, p)).returning({ uid: providers.uid }),
  )

  const removeSomeConnections = statement((p: { providerUid: string; limit: number }) => {
    const some = query
      .select({ id: connections.id })
      .from(connections)
      .where(eq(connections.providerUid, p.providerUid))
      .orderBy(connections.id)
      .limit(p.limit)
    return query
      .delete(connections)
      .where(inArray(connections.id, some))
      .returning({ id: connections.id, userId: connections.userId, eventSeq: connections.eventSeq })
  })

  /** Deletes some of the entry's connections; returns how many. */
  function* deleteSomeConnections(
    announce: Announce,
    { projectId, uid: providerUid }: ProviderEntry,
  ): Steps<number> {
    const gone = yield* removeSomeConnections({ providerUid, limit: CONNECTIONS_AT_ONCE })
    const deleted = gone.map((row) => ({ ...row, projectId, providerUid }))
    for (const row of deleted) announce(connectionChange(row))
    yield* followUp(announce, { kind: 'connections deleted', connections: deleted })
    return gone.length
  }

  return {
    async add(entry, audit) {
      return writeRow(write, audit, rowChange('provider', entry.projectId, [entry.uid]), () => insert(entry))
    },
    async change(from, to, audit, identity) {
      const { uid, projectId } = from
      return write(audit, function* (announce) {
        const [current] = yield* locked({ uid })
        if (!isDeepStrictEqual(current, from)) return undefined
        const [changed] = yield* update(newerThan(from, to))
        if (identity !== undefined) yield* reidentify(uid, identity)
        announce(rowChange('provider', projectId, [uid]))
        return changed
      })
    },
    async findByUid(uid) {
      return (await read(byUid({ uid })))[0]
    },
    async findById(projectId, id) {
      return (await read(byId({ projectId, id })))[0]
    },
    async list(projectId) {
      return read(ofProject({ projectId }))
    },
    async page(projectId, after, limit) {
      return rowPage(await read(pageAfter({ projectId, after, limit })), limit, ({ uid }) => uid)
    },
    async byUids(projectId, uids) {
      return read(ofUids({ projectId, uids }))
    },
    async delete(projectId, id, audit) {
      const [entry] = await read(byId({ projectId, id }))
      if (entry === undefined) return false
      const deleteSome = () => write(undefined, (announce) => deleteSomeConnections(announce, entry))
      while ((await deleteSome()) > 0);
      return write(audit, function* (announce) {
        const [removed] = yield* remove({ projectId, id })
        if (removed === undefined) return false
        announce(rowChange('provider', projectId, [removed.uid]))
        // those stored meanwhile: no foreign key deletes them, and none is added while the row of the entry is locked
        if (isDistributed) while ((yield* deleteSomeConnections(announce, entry)) > 0);
        return true
      })
    },
  }
}

/** An entry that is added, or replaces `from`. */
export interface EntryWrite {
  readonly from?: ProviderEntry
  readonly to: ProviderEntry
}

/**
 * The steps that write entries in another noun's transaction. They return `false`, with nothing written, when a row is no
 * longer its `from`, or was deleted.
 */
export function entryWrites(database: Database) {
  const { insert, locked, update } = entryStatements(database)

  return function* writeEntries(entries: readonly EntryWrite[]): Steps<boolean> {
    for (const { from } of entries) {
      if (from === undefined) continue
      const [current] = yield* locked({ uid: from.uid })
      if (!isDeepStrictEqual(current, from)) return false
    }
    for (const { from, to } of entries) yield* from === undefined ? insert(to) : update(newerThan(from, to))
    return true
  }
}

/**
 * The row after a change. Its `updatedAt` is the version that the release of a token compares (`preconditions.ts`), so
 * it rises with every change, also within one second.
 */
function newerThan(from: ProviderEntry, to: ProviderEntry): ProviderEntry {
  return { ...to, uid: from.uid, updatedAt: Math.max(to.updatedAt, from.updatedAt + 1) }
}

function entryStatements({ tables: { providers }, query, statement, dialect }: Database) {
  return {
    insert: statement((_: ProviderEntry) =>
      query.insert(providers).values(placeholdersOf(providers)).returning(),
    ),
    // connections refer to the entry, and can be added while this lock is held
    locked: statement((p: { uid: string }) =>
      dialect.lock(query.select().from(providers).where(eq(providers.uid, p.uid)), 'for no key update'),
    ),
    update: statement((p: ProviderEntry) =>
      query.update(providers).set(changesOf(providers)).where(eq(providers.uid, p.uid)).returning(),
    ),
  }
}

/**
 * Every column but the key. SQLite reads all connections of an entry whose statement sets the key, even to the same
 * value: half a second for a million of them.
 */
function changesOf(providers: Database['tables']['providers']) {
  const { uid: _, ...changes } = placeholdersOf(providers)
  return changes
}
