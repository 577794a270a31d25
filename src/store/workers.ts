import { eq, inArray, sql } from 'drizzle-orm'
import type { ToolName } from '../domain/tool-name.ts'
import type { Worker } from '../domain/worker.ts'
import type { AuditEntries } from './audit-entries.ts'
import { rowChange } from './changes.ts'
import type { Database } from './database.ts'
import { pinnedToolWrites } from './pinned-tools.ts'
import { hasIdInProject } from './row-conditions.ts'
import { sameMembers } from './same-members.ts'
import { type InProject, type OfProject, placeholdersOf } from './statement.ts'
import { announceNames, toolNameWrites } from './tool-names.ts'
import { writeRow } from './write-row.ts'

/** How many tools are deleted in one commit: a worker may have tens of thousands. */
const TOOLS_AT_ONCE = 50

/** What the worker's tools may require, and its MAC. */
export type AcceptedNeeds = Pick<Worker, 'uid' | 'accepted' | 'acceptedMac'>

/** What a reading of the worker's catalogue found. Without `syncedAt` the worker keeps the time of the last good reading. */
export type CatalogueReading = Pick<Worker, 'uid' | 'syncedAt' | 'syncError' | 'unreachableSince'>

/** The members that administrators set. `change` writes no others, except for `updatedAt` and the MAC. */
const SETTINGS = ['enabled', 'uri', 'secret', 'settings', 'timeoutSeconds', 'retry', 'pinning'] as const

export interface Workers {
  /** Adds the worker, or returns `undefined` when its `id` is taken in the project. */
  add(worker: Worker, audit?: AuditEntries): Promise<Worker | undefined>
  /**
   * Writes the worker's settings and returns the row. `undefined`, with nothing written, when they are no longer those of
   * `from`, or the worker was deleted.
   */
  change(from: Worker, to: Worker, audit?: AuditEntries): Promise<Worker | undefined>
  /** Writes what a reading of the catalogue found, and returns the row; `undefined` when the worker was deleted. */
  settleSync(reading: CatalogueReading): Promise<Worker | undefined>
  /**
   * Writes what the worker's tools may require. `false`, with nothing written, when the stored `accepted` is no longer
   * that of `from`, or the worker was deleted. With `names`, the worker has these names from now on, also those that
   * another source had.
   */
  accept(
    from: Pick<Worker, 'accepted'>,
    to: AcceptedNeeds & { readonly names?: readonly ToolName[] },
    audit?: AuditEntries,
  ): Promise<boolean>
  findByUid(uid: string): Promise<Worker | undefined>
  find(projectId: string, id: string): Promise<Worker | undefined>
  list(projectId: string): Promise<readonly Worker[]>
  /** The workers of all projects, whose tools a background job reads again. */
  all(): Promise<readonly Worker[]>
  /**
   * Deletes the worker with its tools, frees their names, and unbinds the metadata tools that are bound to it. Most tools are deleted before
   * the worker, a few in each commit; if the process ends in between, the worker still exists.
   */
  delete(projectId: string, id: string, audit?: AuditEntries): Promise<boolean>
}

export function createWorkers(database: Database): Workers {
  const { tables, query, statement, read, write, dialect } = database
  const { workers, tools } = tables
  const toolNames = toolNameWrites(database)
  const pinnedTools = pinnedToolWrites(database)
  const named = (p: InProject) => hasIdInProject(workers, p)

  const byUid = statement((p: { uid: string }) => query.select().from(workers).where(eq(workers.uid, p.uid)))
  const byId = statement((p: InProject) => query.select().from(workers).where(named(p)))
  const ofProject = statement((p: OfProject) =>
    query.select().from(workers).where(eq(workers.projectId, p.projectId)).orderBy(workers.uid),
  )
  const everywhere = statement((_: object) => query.select().from(workers).orderBy(workers.uid))
  const insert = statement((_: Worker) =>
    query.insert(workers).values(placeholdersOf(workers)).onConflictDoNothing().returning(),
  )
  const locked = statement((p: { uid: string }) =>
    dialect.lock(query.select().from(workers).where(eq(workers.uid, p.uid)), 'for no key update'),
  )
  const update = statement((p: Worker) => {
    const { enabled, uri, secret, settings, timeoutSeconds, retry, pinning, updatedAt, mac } =
      placeholdersOf(workers)
    return query
      .update(workers)
      .set({ enabled, uri, secret, settings, timeoutSeconds, retry, pinning, updatedAt, mac })
      .where(eq(workers.uid, p.uid))
      .returning()
  })
  const settleSync = statement((p: CatalogueReading) =>
    query
      .update(workers)
      .set({
        syncedAt: sql`coalesce(${p.syncedAt}, ${workers.syncedAt})`,
        syncError: p.syncError ?? null,
        unreachableSince: p.unreachableSince ?? null,
      })
      .where(eq(workers.uid, p.uid))
      .returning(),
  )
  const accept = statement((p: AcceptedNeeds) =>
    query
      .update(workers)
      .set({ accepted: p.accepted, acceptedMac: p.acceptedMac })
      .where(eq(workers.uid, p.uid))
      .returning({ uid: workers.uid }),
  )
  const remove = statement((p: InProject) =>
    query.delete(workers).where(named(p)).returning({ uid: workers.uid }),
  )
  const removeSomeTools = statement((p: { uid: string; limit: number }) => {
    const some = query.select({ uid: tools.uid }).from(tools).where(eq(tools.workerUid, p.uid)).limit(p.limit)
    return query.delete(tools).where(inArray(tools.uid, some)).returning({ uid: tools.uid })
  })
  const removeTools = statement((p: { uid: string }) =>
    query.delete(tools).where(eq(tools.workerUid, p.uid)).returning({ uid: tools.uid }),
  )
  const unbindTools = statement((p: { uid: string }) =>
    query
      .update(tools)
      .set({ binding: null, bindingMac: null })
      .where(sql`${dialect.member(tools.binding, 'workerUid')} = ${p.uid}`)
      .returning({ uid: tools.uid }),
  )

  /** Deletes some of the worker's tools; returns how many. */
  function deleteSomeTools({ uid, projectId }: Worker): Promise<number> {
    return write(undefined, function* (announce) {
      const gone = yield* removeSomeTools({ uid, limit: TOOLS_AT_ONCE })
      const uids = gone.map((tool) => tool.uid)
      if (uids.length > 0) announce(rowChange('tool', projectId, uids))
      return uids.length
    })
  }

  return {
    async add(worker, audit) {
      return writeRow(write, audit, { noun: 'worker' }, () => insert(worker))
    },
    async change(from, to, audit) {
      return write(audit, function* (announce) {
        const [current] = yield* locked({ uid: from.uid })
        if (current === undefined || !sameMembers(current, from, SETTINGS)) return undefined
        const [changed] = yield* update({ ...to, uid: from.uid })
        announce({ noun: 'worker' })
        return changed
      })
    },
    async settleSync(reading) {
      return writeRow(write, undefined, { noun: 'worker' }, () => settleSync(reading))
    },
    async accept(from, { names = [], ...to }, audit) {
      return write(audit, function* (announce) {
        const [current] = yield* locked({ uid: to.uid })
        if (current === undefined || !sameMembers(current, from, ['accepted'])) return false
        yield* accept(to)
        announce({ noun: 'worker' })
        if (names.length > 0) {
          yield* toolNames.take(names)
          announceNames(announce, names)
        }
        return true
      })
    },
    async findByUid(uid) {
      return (await read(byUid({ uid })))[0]
    },
    async find(projectId, id) {
      return (await read(byId({ projectId, id })))[0]
    },
    async list(projectId) {
      return read(ofProject({ projectId }))
    },
    async all() {
      return read(everywhere({}))
    },
    async delete(projectId, id, audit) {
      const [worker] = await read(byId({ projectId, id }))
      if (worker === undefined) return false
      while ((await deleteSomeTools(worker)) === TOOLS_AT_ONCE);
      return write(audit, function* (announce) {
        const [gone] = yield* remove({ projectId, id })
        if (gone === undefined) return false
        yield* removeTools(gone)
        yield* pinnedTools.removeAll({ workerUid: gone.uid })
        yield* unbindTools(gone)
        yield* toolNames.freeAll({ projectId, source: gone.uid })
        announce({ noun: 'tool', projectId })
        announce({ noun: 'worker' })
        return true
      })
    },
  }
}
