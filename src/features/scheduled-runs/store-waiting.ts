import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { ExecutionRecord } from '../../domain/execution.ts'
import type { AuditEntries } from '../../store/audit-entries.ts'
import type { ChangeHook } from '../../store/change-hook.ts'
import type { Database } from '../../store/database.ts'
import { type OfProject, placeholdersOf } from '../../store/statement.ts'

/** Runs that wait until people have approved them. */
export interface WaitingRuns {
  /** Adds the run, or returns the one that waits for the same approval. */
  hold(record: ExecutionRecord, audit: AuditEntries): Promise<ExecutionRecord>
  /** Lets the run of an approval begin, or end, that was decided before the run was stored. */
  release(of: OfProject & { readonly approvalId: string; readonly isApproved: boolean }): Promise<void>
}

interface Settled extends OfProject {
  readonly approvalId: string
  readonly isApproved: number
}

export function createWaitingRuns(database: Database): WaitingRuns {
  const { tables, query, statement, write } = database
  const { executions } = tables
  const { leaseOwner: _, leaseUntil: __, ...columns } = getTableColumns(executions)
  const insert = statement((_: ExecutionRecord) =>
    query.insert(executions).values(placeholdersOf(executions)).onConflictDoNothing().returning(columns),
  )
  const ofApproval = statement((p: OfProject & { approvalId: string }) =>
    query
      .select(columns)
      .from(executions)
      .where(and(eq(executions.approvalId, p.approvalId), eq(executions.projectId, p.projectId))),
  )
  const release = releasing(database)

  return {
    async hold(record, audit) {
      const { projectId, approvalId = '' } = record
      const added = await write(audit, function* () {
        return (yield* insert(record))[0]
      })
      if (added !== undefined) return added
      const [held] = await database.read(ofApproval({ projectId, approvalId }))
      if (held === undefined) throw new Error('a run that was not added has another one in its place')
      return held
    },
    async release({ isApproved, ...of }) {
      await write(undefined, () => release({ ...of, isApproved: isApproved ? 1 : 0 }))
    },
  }
}

/**
 * The run becomes a scheduled one. If it was not approved, it is due at once, so that a process ends it with the reason.
 */
function releasing({ tables: { executions }, query, statement }: Database) {
  return statement((p: Settled) =>
    query
      .update(executions)
      .set({
        status: 'scheduled',
        runAt: sql<EpochSeconds>`case when ${p.isApproved} = 1 then ${executions.runAt} else ${executions.createdAt} end`,
      })
      .where(
        and(
          eq(executions.approvalId, p.approvalId),
          eq(executions.projectId, p.projectId),
          eq(executions.status, 'waiting_for_approval'),
        ),
      )
      .returning({ id: executions.id }),
  )
}

/** Goes on with the run of an approval in the transaction in which it is decided, or ends. */
export function runsOfApprovals(database: Database): ChangeHook {
  const release = releasing(database)
  return function* (_, change) {
    if (change.kind !== 'approval changed') return undefined
    const { id: approvalId, projectId, status } = change.approval
    if (status !== 'pending')
      yield* release({ projectId, approvalId, isApproved: status === 'approved' ? 1 : 0 })
    return undefined
  }
}
