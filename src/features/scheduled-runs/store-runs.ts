import { and, count, eq, getTableColumns, inArray, lte, type SQL, sql } from 'drizzle-orm'
import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { ExecutionRecord } from '../../domain/execution.ts'
import type { Sealed } from '../../domain/sealed.ts'
import type { AuditEntries } from '../../store/audit-entries.ts'
import type { Database } from '../../store/database.ts'
import { hasNotCompleted } from '../../store/execution-lists.ts'
import { type Lease, leaseEnd, NO_LEASE } from '../../store/lease.ts'
import { hasIdInProject } from '../../store/row-conditions.ts'
import { type InProject, type OfProject, placeholdersOf } from '../../store/statement.ts'

/** Runs that are scheduled, in the table of all runs. */
export interface ScheduledRuns {
  /**
   * Claims up to `limit` runs, each for one process at a time: first those that are `running` under an expired lease, then
   * scheduled ones that are due, the earliest first. Their status becomes `running`, their attempts rise by one, and the
   * owner gets the lease. Leases use the clock of leases (`Dialect.leaseNow`), but `now` decides whether a run is due. Runs
   * of the projects in `except` are left out.
   */
  claimDue(
    lease: Lease,
    now: EpochSeconds,
    limit: number,
    except?: readonly string[],
  ): Promise<readonly ExecutionRecord[]>
  /** Prolongs the lease, if the owner still holds it; returns whether it does. */
  prolong(id: string, lease: Lease, now: EpochSeconds): Promise<boolean>
  /**
   * Writes how a claimed run ended, or that it is to be tried again (status `scheduled`, a new `runAt`). `false`, with
   * nothing written, when the owner no longer holds the lease. The request of a run that has ended is deleted, and
   * otherwise not written: a key rotation may have sealed the stored one with another key meanwhile.
   */
  settle(record: ExecutionRecord, owner: string): Promise<boolean>
  /** Cancels a scheduled run that has not begun, deletes its request, and writes the result, if there is one. */
  cancel(
    projectId: string,
    id: string,
    now: EpochSeconds,
    audit?: AuditEntries,
    result?: Sealed,
  ): Promise<ExecutionRecord | undefined>
  /** How many runs of the project are scheduled, or wait for an approval, and have not begun. */
  count(projectId: string): Promise<number>
}

export function createScheduledRuns(database: Database): ScheduledRuns {
  const { tables, query, statement, read, write, followUp, dialect } = database
  const { executions } = tables
  const { leaseOwner: _, leaseUntil: __, ...columns } = getTableColumns(executions)
  const isScheduled = eq(executions.status, 'scheduled')
  const hasNotBegun = inArray(executions.status, ['scheduled', 'waiting_for_approval'])
  interface Claiming {
    readonly now: EpochSeconds
    readonly limit: number
    readonly except: readonly string[]
  }
  const claimable = (p: Claiming, condition: SQL | undefined, order: readonly AnySQLiteColumn[]) =>
    dialect.lock(
      query
        .select({ id: executions.id })
        .from(executions)
        .where(
          and(
            condition,
            sql`${executions.projectId} not in (select value from ${dialect.elementsOf(p.except)})`,
          ),
        )
        .orderBy(...order)
        .limit(p.limit),
      'for update skip locked',
    )
  // two statements, since no index has the rows of both
  const lapsed = statement((p: Claiming) => {
    // a subquery: PostgreSQL uses no index for a comparison with `clock_timestamp()`, which changes while a statement runs
    const hasLapsed = sql`${executions.leaseUntil} <= (select ${dialect.leaseNow(p.now)})`
    return claimable(p, and(eq(executions.status, 'running'), hasLapsed), [executions.leaseUntil])
  })
  const due = statement((p: Claiming) =>
    claimable(p, and(isScheduled, lte(executions.runAt, p.now)), [executions.runAt, executions.id]),
  )
  const claim = statement((p: Lease & { id: string; now: EpochSeconds }) =>
    query
      .update(executions)
      .set({
        status: 'running',
        attempts: sql`${executions.attempts} + 1`,
        startedAt: p.now,
        updatedAt: p.now,
        leaseOwner: p.owner,
        leaseUntil: leaseEnd(dialect, p),
      })
      .where(eq(executions.id, p.id))
      .returning(columns),
  )
  const prolong = statement((p: Lease & { id: string; now: EpochSeconds }) =>
    query
      .update(executions)
      .set({ leaseUntil: leaseEnd(dialect, p) })
      .where(and(eq(executions.id, p.id), eq(executions.leaseOwner, p.owner)))
      .returning({ id: executions.id }),
  )
  const settle = statement((p: ExecutionRecord & { owner: string }) => {
    const row = placeholdersOf(executions)
    return query
      .update(executions)
      .set({
        status: row.status,
        outcome: row.outcome,
        errorKind: row.errorKind,
        runAt: row.runAt,
        updatedAt: row.updatedAt,
        startedAt: row.startedAt,
        finishedAt: row.finishedAt,
        durationMs: row.durationMs,
        attempts: row.attempts,
        request: sql`case when ${row.status} = 'scheduled' then ${executions.request} end`,
        result: sql`coalesce(${row.result}, ${executions.result})`,
        ...NO_LEASE,
      })
      .where(and(hasIdInProject(executions, p), eq(executions.leaseOwner, p.owner)))
      .returning({ id: executions.id })
  })
  const cancel = statement((p: InProject & { now: EpochSeconds; result: Sealed | null }) =>
    query
      .update(executions)
      .set({
        status: 'cancelled',
        finishedAt: p.now,
        updatedAt: p.now,
        request: null,
        result: sql`coalesce(${p.result}, ${executions.result})`,
      })
      .where(and(hasIdInProject(executions, p), hasNotBegun))
      .returning(columns),
  )
  const scheduledCount = statement((p: OfProject) =>
    query
      .select({ total: count() })
      .from(executions)
      .where(and(eq(executions.projectId, p.projectId), hasNotBegun, hasNotCompleted(executions))),
  )

  return {
    async claimDue(lease, now, limit, except = []) {
      return write(undefined, function* () {
        const claimed: ExecutionRecord[] = []
        // a statement of its own locks the rows, since an UPDATE has no limit
        for (const { id } of yield* lapsed({ now, limit, except }))
          claimed.push(...(yield* claim({ ...lease, id, now })))
        if (claimed.length < limit)
          for (const { id } of yield* due({ now, limit: limit - claimed.length, except }))
            claimed.push(...(yield* claim({ ...lease, id, now })))
        return claimed
      })
    },
    async prolong(id, lease, now) {
      return (await write(undefined, () => prolong({ ...lease, id, now }))).length > 0
    },
    async settle(record, owner) {
      return write(undefined, function* (announce) {
        if ((yield* settle({ ...record, owner })).length === 0) return false
        yield* followUp(announce, { kind: 'runs ended', runs: [record] })
        return true
      })
    },
    async cancel(projectId, id, now, audit, result) {
      return write(audit, function* () {
        return (yield* cancel({ projectId, id, result: result ?? null, now }))[0]
      })
    },
    async count(projectId) {
      const [row] = await read(scheduledCount({ projectId }))
      return row?.total ?? 0
    },
  }
}
