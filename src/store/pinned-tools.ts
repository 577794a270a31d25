import { and, eq, getTableColumns, isNotNull } from 'drizzle-orm'
import type { PinnedTool } from '../domain/pinned-tool.ts'
import type { Tool } from '../domain/tool.ts'
import type { Database } from './database.ts'
import { type OfProject, placeholdersOf, type Steps } from './statement.ts'

interface OfWorker {
  readonly workerUid: string
}

/** Names a row. */
export type PinnedKey = Pick<PinnedTool, 'workerUid' | 'tool'>

export interface PinnedTools {
  /** The rows of the worker, without their definitions. */
  ofWorker(workerUid: string): Promise<readonly PinnedTool[]>
  /** The rows of the worker with a definition that waits. */
  definitions(workerUid: string): Promise<readonly PinnedTool[]>
  /** The rows of the project with a definition that waits, without it. */
  waiting(projectId: string): Promise<readonly PinnedTool[]>
}

/** Changes that are a part of `Tools.change`. */
export interface PinChanges {
  /** Rows that are added or replaced. */
  readonly put?: readonly PinnedTool[]
  readonly removed?: readonly PinnedKey[]
  /** Rows that are removed because what waited was accepted. If other definitions wait by now, nothing is written. */
  readonly accepted?: readonly (PinnedKey & Required<Pick<PinnedTool, 'waiting'>>)[]
  /** Tools that are held from now on, each with `held`: only those that still have the same `digest`. */
  readonly held?: readonly Tool[]
}

export function createPinnedTools({ tables, query, statement, read }: Database): PinnedTools {
  const { pinnedTools } = tables
  const { definition: _, ...columns } = getTableColumns(pinnedTools)
  const ofWorker = statement((p: OfWorker) =>
    query.select(columns).from(pinnedTools).where(eq(pinnedTools.workerUid, p.workerUid)),
  )
  const definitions = statement((p: OfWorker) =>
    query
      .select()
      .from(pinnedTools)
      .where(and(eq(pinnedTools.workerUid, p.workerUid), isNotNull(pinnedTools.waiting))),
  )
  const waiting = statement((p: OfProject) =>
    query
      .select(columns)
      .from(pinnedTools)
      .where(and(eq(pinnedTools.projectId, p.projectId), isNotNull(pinnedTools.waiting))),
  )
  return {
    async ofWorker(workerUid) {
      return read(ofWorker({ workerUid }))
    },
    async definitions(workerUid) {
      return read(definitions({ workerUid }))
    },
    async waiting(projectId) {
      return read(waiting({ projectId }))
    },
  }
}

/** Writes rows as a part of a transaction. */
export interface PinnedToolWrites {
  /** `false` when something else waits than was accepted; the transaction must write nothing then. */
  change(changes: PinChanges): Steps<boolean>
  removeAll(of: OfWorker): Steps<void>
}

export function pinnedToolWrites({ tables, query, statement }: Database): PinnedToolWrites {
  const { pinnedTools, tools } = tables
  const upsert = statement((_: PinnedTool) => {
    const row = placeholdersOf(pinnedTools)
    return query
      .insert(pinnedTools)
      .values(row)
      .onConflictDoUpdate({ target: [pinnedTools.workerUid, pinnedTools.tool], set: row })
      .returning({ tool: pinnedTools.tool })
  })
  const isKey = (p: PinnedKey) => and(eq(pinnedTools.workerUid, p.workerUid), eq(pinnedTools.tool, p.tool))
  const remove = statement((p: PinnedKey) =>
    query.delete(pinnedTools).where(isKey(p)).returning({ tool: pinnedTools.tool }),
  )
  const accept = statement((p: PinnedKey & { waiting: string }) =>
    query
      .delete(pinnedTools)
      .where(and(isKey(p), eq(pinnedTools.waiting, p.waiting)))
      .returning({ tool: pinnedTools.tool }),
  )
  const removeOfWorker = statement((p: OfWorker) =>
    query
      .delete(pinnedTools)
      .where(eq(pinnedTools.workerUid, p.workerUid))
      .returning({ tool: pinnedTools.tool }),
  )
  const hold = statement((p: Pick<Tool, 'uid' | 'digest' | 'held' | 'mac'>) =>
    query
      .update(tools)
      .set({ held: p.held ?? null, mac: p.mac ?? null })
      .where(and(eq(tools.uid, p.uid), eq(tools.digest, p.digest)))
      .returning({ uid: tools.uid }),
  )

  return {
    *change({ put = [], removed = [], accepted = [], held = [] }) {
      for (const row of accepted) if ((yield* accept(row)).length === 0) return false
      for (const row of removed) yield* remove(row)
      for (const row of put) yield* upsert(row)
      for (const tool of held) yield* hold(tool)
      return true
    },
    *removeAll(of) {
      yield* removeOfWorker(of)
    },
  }
}
