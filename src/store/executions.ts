import { and, getTableColumns, inArray, lt, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { ExecutionRecord } from '../domain/execution.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { Database } from './database.ts'
import { createExecutionLists, type ExecutionLists } from './execution-lists.ts'
import { NO_LEASE } from './lease.ts'
import { hasIdInProject, isOfUser } from './row-conditions.ts'
import { type InProject, type OfUser, placeholdersOf, withoutRows } from './statement.ts'
import { deleteInSlices, inSlices } from './sweep.ts'

/** Runs of tools. The runs of a feature that carries them out later are in the same table. */
export interface Executions extends ExecutionLists {
  /** Adds all records or none. */
  add(records: readonly ExecutionRecord[], audit?: AuditEntries): Promise<void>
  find(projectId: string, id: string): Promise<ExecutionRecord | undefined>
  /**
   * Removes the user's id, inputs and outputs from all of their runs, and cancels those that have not ended. The rows are
   * kept, so that the statistics of tools do not change. Returns how many rows were changed.
   */
  forgetUser(projectId: string, userId: string, now: EpochSeconds): Promise<number>
  /** Deletes those that ended before `before`; returns how many. */
  sweep(before: EpochSeconds): Promise<number>
}

export function createExecutions(database: Database): Executions {
  const { tables, query, statement, read, write, writeRepeatable, followUp, dialect } = database
  const { executions } = tables
  const { leaseOwner: _, leaseUntil: __, ...columns } = getTableColumns(executions)

  const hasEnded = inArray(executions.status, ['completed', 'failed', 'cancelled'])

  const insert = statement((_: ExecutionRecord) =>
    withoutRows(query.insert(executions).values(placeholdersOf(executions))),
  )
  const byId = statement((p: InProject) =>
    query.select(columns).from(executions).where(hasIdInProject(executions, p)),
  )
  const forgetUser = statement((p: OfUser & { now: EpochSeconds }) => {
    const ofUser = isOfUser(executions, p)
    const some = query.select({ id: executions.id }).from(executions).where(ofUser).limit(dialect.sweptAtOnce)
    return query
      .update(executions)
      .set({
        userId: null,
        request: null,
        result: null,
        status: sql`case when ${hasEnded} then ${executions.status} else 'cancelled' end`,
        finishedAt: sql`case when ${hasEnded} then ${executions.finishedAt} else ${p.now} end`,
        updatedAt: p.now,
        ...NO_LEASE,
      })
      .where(and(inArray(executions.id, some), ofUser))
      .returning({ id: executions.id })
  })
  const sweep = deleteInSlices(database, executions, { id: executions.id }, (p: { before: EpochSeconds }) =>
    and(lt(executions.finishedAt, p.before), hasEnded),
  )

  return {
    ...createExecutionLists(database),
    async add(records, audit) {
      if (records.length === 0) return
      await write(audit, function* (announce) {
        for (const record of records) yield* insert(record)
        yield* followUp(announce, { kind: 'runs ended', runs: records })
        return true
      })
    },
    async find(projectId, id) {
      return (await read(byId({ projectId, id })))[0]
    },
    async forgetUser(projectId, userId, now) {
      return inSlices(() => writeRepeatable(forgetUser({ projectId, userId, now })))
    },
    async sweep(before) {
      return sweep({ before })
    },
  }
}
