import { and, eq, gt, inArray, isNotNull, lte, ne, type SQL, sql } from 'drizzle-orm'
import type { AnySQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { EpochSeconds } from '../domain/clock.ts'
import type { AuditEntries } from './audit-entries.ts'
import { SETTLED, UNSETTLED } from './authorization-row.ts'
import type { Database } from './database.ts'
import { BACKUP_FACT } from './facts.ts'
import { NO_LEASE } from './lease.ts'
import { greaterOf } from './row-conditions.ts'
import type { Statement } from './statement.ts'
import type { StorePart } from './store-part.ts'
import { inSlices, VISITED_AT_ONCE } from './sweep.ts'

export interface SettledRestore {
  /** When the backup was taken. */
  readonly takenAt: EpochSeconds
  /** How many active connections have a refresh token. */
  readonly connections: number
  /** How many authorizations had not settled. */
  readonly authorizations: number
  /** How many scheduled runs were due or under way. */
  readonly runs: number
  /** How many approvals of MCP clients were deleted. */
  readonly mcpConsents: number
}

/**
 * Settles what a restored backup had under way, before requests are served: refresh tokens count as possibly used,
 * authorizations fail with this message, due runs fail, and suspended calls, sessions, links, approvals of MCP clients
 * and what features name are deleted. `undefined` when the database is no restored backup, or another node has
 * settled it.
 */
export type SettleRestore = (
  message: string,
  now: EpochSeconds,
  audit?: (takenAt: EpochSeconds) => AuditEntries,
) => Promise<SettledRestore | undefined>

interface Slice {
  readonly ids: readonly string[]
}

/**
 * What the mark of a restored backup says: when the backup was taken and, after the first slices, how many
 * authorizations and runs were failed, by all nodes that share the work and before an interruption.
 */
type Mark = Pick<SettledRestore, 'takenAt' | 'authorizations' | 'runs'>

function parseMark(value: string): Mark {
  const [takenAt = 0, authorizations = 0, runs = 0] = value.split(' ').map(Number)
  return { takenAt, authorizations, runs }
}

function raised(value: string, counted: 'authorizations' | 'runs', by: number): string {
  const mark = parseMark(value)
  const { takenAt, authorizations, runs }: Mark = { ...mark, [counted]: mark[counted] + by }
  return `${takenAt} ${authorizations} ${runs}`
}

export function createSettleRestore(
  database: Database,
  parts: readonly Pick<StorePart, 'restore'>[],
): SettleRestore {
  const { tables, query, statement, read, write, dialect } = database
  const { authorizations, connections, executions, facts, suspendedCalls } = tables
  const { mcpConsents, mcpRecords, pageSessions } = tables

  const mark = () => query.select({ value: facts.value }).from(facts).where(eq(facts.name, BACKUP_FACT))
  const findMark = statement((_: object) => mark())
  const lockMark = statement((_: object) => dialect.lock(mark(), 'for update'))
  const putMark = statement((p: { value: string }) =>
    query
      .update(facts)
      .set({ value: p.value })
      .where(eq(facts.name, BACKUP_FACT))
      .returning({ name: facts.name }),
  )
  const takeMark = statement((_: object) =>
    query.delete(facts).where(eq(facts.name, BACKUP_FACT)).returning({ value: facts.value }),
  )
  const idsOf = (table: SQLiteTable & { readonly id: AnySQLiteColumn }) =>
    statement((p: { after: string }) =>
      query
        .select({ id: sql<string>`${table.id}` })
        .from(table)
        .where(gt(table.id, p.after))
        .orderBy(table.id)
        .limit(VISITED_AT_ONCE),
    )
  const isOfSlice = (id: AnySQLiteColumn, p: Slice): SQL =>
    sql`${id} in (select value from ${dialect.elementsOf(p.ids)})`

  const connectionIds = idsOf(connections)
  // the provider may have replaced the token since; not raised by one, so that a repetition changes nothing
  const countRefreshes = statement((p: Slice) =>
    query
      .update(connections)
      .set({ ...NO_LEASE, unansweredRefreshes: greaterOf(connections.unansweredRefreshes, 1) })
      .where(
        and(isOfSlice(connections.id, p), isNotNull(connections.refresh), eq(connections.status, 'active')),
      )
      .returning({ id: connections.id }),
  )
  const authorizationIds = idsOf(authorizations)
  const failAuthorizations = statement((p: Slice & { message: string; now: EpochSeconds }) =>
    query
      .update(authorizations)
      .set({ ...SETTLED, status: 'failed', reason: 'expired', message: p.message, completedAt: p.now })
      .where(and(isOfSlice(authorizations.id, p), inArray(authorizations.status, UNSETTLED)))
      .returning({ id: authorizations.id }),
  )
  const runIds = idsOf(executions)
  // such a run may have been carried out after the backup, and a second time is worse than none
  const failRuns = statement((p: Slice & { now: EpochSeconds }) =>
    query
      .update(executions)
      .set({
        status: 'failed',
        outcome: 'error',
        errorKind: 'UNKNOWN',
        ...NO_LEASE,
        finishedAt: p.now,
        updatedAt: p.now,
      })
      .where(
        and(
          isOfSlice(executions.id, p),
          inArray(executions.status, ['scheduled', 'running']),
          lte(executions.runAt, p.now),
        ),
      )
      .returning({ id: executions.id }),
  )
  const dropCalls = statement((_: object) =>
    query.delete(suspendedCalls).returning({ id: suspendedCalls.id }),
  )

  // users who have logged out or lost a role since the backup must not be logged in again
  const dropSessions = statement((_: object) => query.delete(pageSessions).returning({ id: pageSessions.id }))

  // an approval that was revoked after the backup must not be valid again, so users approve their MCP clients once more
  const dropConsents = statement((_: object) => query.delete(mcpConsents).returning({ id: mcpConsents.id }))
  const dropGrants = statement((_: object) =>
    query.delete(mcpRecords).where(ne(mcpRecords.model, 'Client')).returning({ id: mcpRecords.id }),
  )

  const ofParts = parts.flatMap(({ restore }) => restore?.(database) ?? [])

  /**
   * Changes the rows of a table in slices, and returns how many were changed. A slice locks the mark: once another node has
   * taken it, that node serves requests, and what it writes must not be changed.
   */
  async function changeAll(
    idsAfter: Statement<{ after: string }, { id: string }>,
    change: (slice: Slice) => ReturnType<typeof countRefreshes>,
    counted?: 'authorizations' | 'runs',
  ): Promise<number> {
    let after = ''
    let changed = 0
    await inSlices(async () => {
      const slice = await write(undefined, function* () {
        const [held] = yield* lockMark({})
        if (held === undefined) return { ids: [], changed: 0 }
        const ids = (yield* idsAfter({ after })).map(({ id }) => id)
        const { length } = yield* change({ ids })
        if (counted !== undefined && length > 0)
          yield* putMark({ value: raised(held.value, counted, length) })
        return { ids, changed: length }
      })
      after = slice.ids.at(-1) ?? after
      changed += slice.changed
      return slice.ids
    })
    return changed
  }

  return async (message, now, audit) => {
    const [marked] = await read(findMark({}))
    if (marked === undefined) return undefined
    const refreshable = await changeAll(connectionIds, countRefreshes)
    await changeAll(
      authorizationIds,
      (slice) => failAuthorizations({ ...slice, message, now }),
      'authorizations',
    )
    await changeAll(runIds, (slice) => failRuns({ ...slice, now }), 'runs')
    return write(audit?.(parseMark(marked.value).takenAt), function* () {
      const [taken] = yield* takeMark({})
      if (taken === undefined) return undefined
      yield* dropCalls({})
      yield* dropSessions({})
      const consents = yield* dropConsents({})
      yield* dropGrants({})
      for (const restore of ofParts) yield* restore()
      return { ...parseMark(taken.value), connections: refreshable, mcpConsents: consents.length }
    })
  }
}
