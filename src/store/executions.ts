import { setImmediate as nextTurn } from 'node:timers/promises'
import { and, asc, count, desc, eq, getTableColumns, inArray, lt, lte, or, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { ExecutionRecord, ExecutionStatus } from '../domain/execution.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { Database } from './database.ts'
import { type Lease, leaseEnd, NO_LEASE } from './lease.ts'
import type { Page, PageRequest } from './page.ts'
import { type InProject, type OfProject, placeholdersOf, variantsOf } from './statement.ts'

export interface ExecutionFilter {
  readonly userId?: string
  readonly toolId?: string
  readonly type?: ExecutionRecord['type']
  readonly status?: ExecutionStatus
}

/** Runs of tools: those that were carried out, and those that are scheduled. */
export interface Executions {
  /** Adds all of them or none. */
  add(records: readonly ExecutionRecord[], audit?: AuditEntries): Promise<void>
  find(projectId: string, id: string): Promise<ExecutionRecord | undefined>
  /** Newest first. */
  list(
    projectId: string,
    filter: ExecutionFilter,
    page: PageRequest,
  ): Promise<Page<Omit<ExecutionRecord, 'request' | 'result'>>>
  /**
   * Claims up to `limit` scheduled runs that are due, the earliest first, each for one process at a time: their status
   * becomes `running`, their attempts rise by one, and the lease is the owner's. A run that is `running` under a lease
   * that has run out is claimed again. Leases go by the clock of leases (`Dialect.leaseNow`), but whether a run is due
   * is judged by `now`. Runs of the projects in `except` are left out.
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
   * Writes how a claimed run ended, or, with the status `scheduled` and a new `runAt`, that it is to be tried again, if
   * the owner still holds the lease. The request is not written: its key may have been rotated meanwhile.
   */
  settle(record: ExecutionRecord, owner: string): Promise<boolean>
  /** Cancels a scheduled run that has not begun. */
  cancel(
    projectId: string,
    id: string,
    now: EpochSeconds,
    audit?: AuditEntries,
  ): Promise<ExecutionRecord | undefined>
  /** How many of a project are scheduled and have not begun. */
  countScheduled(projectId: string): Promise<number>
  /** Deletes those that ended before `before`; returns how many. */
  sweep(before: EpochSeconds): Promise<number>
}

export function createExecutions(database: Database): Executions {
  const { tables, query, statement, read, write, writeRepeatable, dialect } = database
  const { executions } = tables
  const { leaseOwner: _, leaseUntil: __, ...columns } = getTableColumns(executions)
  const { request: ___, result: ____, ...listed } = columns

  const named = (p: InProject) => and(eq(executions.projectId, p.projectId), eq(executions.id, p.id))
  const isScheduled = eq(executions.status, 'scheduled')

  const insert = statement((_: ExecutionRecord) =>
    query.insert(executions).values(placeholdersOf(executions)).returning({ id: executions.id }),
  )
  const byId = statement((p: InProject) => query.select(columns).from(executions).where(named(p)))
  /** One pair of statements for each combination of filters. `scheduled` is in the text, for its partial index. */
  const filtered = variantsOf((shape: string) => {
    const given = shape.split(' ')
    const matching = (p: { projectId: string } & Required<ExecutionFilter>) =>
      and(
        eq(executions.projectId, p.projectId),
        given.includes('userId') ? eq(executions.userId, p.userId) : undefined,
        given.includes('toolId') ? eq(executions.toolId, p.toolId) : undefined,
        given.includes('scheduled') ? eq(executions.type, 'scheduled') : undefined,
        given.includes('type') ? eq(executions.type, p.type) : undefined,
        given.includes('status') ? eq(executions.status, p.status) : undefined,
      )
    return {
      page: statement((p: { projectId: string } & Required<ExecutionFilter> & PageRequest) =>
        query
          .select(listed)
          .from(executions)
          .where(matching(p))
          .orderBy(desc(executions.id))
          .limit(p.limit)
          .offset(p.offset),
      ),
      total: statement((p: { projectId: string } & Required<ExecutionFilter>) =>
        query.select({ total: count() }).from(executions).where(matching(p)),
      ),
    }
  })
  const due = statement((p: { now: EpochSeconds; limit: number; except: readonly string[] }) =>
    dialect.lock(
      query
        .select({ id: executions.id })
        .from(executions)
        .where(
          and(
            or(
              and(isScheduled, lte(executions.runAt, p.now)),
              and(eq(executions.status, 'running'), lte(executions.leaseUntil, dialect.leaseNow(p.now))),
            ),
            sql`${executions.projectId} not in (select value from ${dialect.elementsOf(p.except)})`,
          ),
        )
        .orderBy(asc(executions.runAt), asc(executions.id))
        .limit(p.limit),
      'for update skip locked',
    ),
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
        result: sql`coalesce(${row.result}, ${executions.result})`,
        ...NO_LEASE,
      })
      .where(and(named(p), eq(executions.leaseOwner, p.owner)))
      .returning({ id: executions.id })
  })
  const cancel = statement((p: { projectId: string; id: string; now: EpochSeconds }) =>
    query
      .update(executions)
      .set({ status: 'cancelled', finishedAt: p.now, updatedAt: p.now })
      .where(and(named(p), isScheduled))
      .returning(columns),
  )
  const scheduledCount = statement((p: OfProject) =>
    query
      .select({ total: count() })
      .from(executions)
      .where(and(eq(executions.projectId, p.projectId), isScheduled)),
  )
  const sweep = statement((p: { before: EpochSeconds; limit: number }) => {
    const ended = query
      .select({ id: executions.id })
      .from(executions)
      .where(
        and(
          lt(executions.finishedAt, p.before),
          inArray(executions.status, ['completed', 'failed', 'cancelled']),
        ),
      )
      .limit(p.limit)
    return query.delete(executions).where(inArray(executions.id, ended)).returning({ id: executions.id })
  })

  return {
    async add(records, audit) {
      if (records.length === 0) return
      await write(audit, function* () {
        for (const record of records) yield* insert(record)
        return true
      })
    },
    async find(projectId, id) {
      return (await read(byId({ projectId, id })))[0]
    },
    async list(projectId, { userId = '', toolId = '', type, status }, { offset, limit }) {
      const { page, total } = filtered(
        [
          userId !== '' && 'userId',
          toolId !== '' && 'toolId',
          type !== undefined && (type === 'scheduled' ? 'scheduled' : 'type'),
          status !== undefined && 'status',
        ]
          .filter(Boolean)
          .join(' '),
      )
      const values = {
        projectId,
        userId,
        toolId,
        type: type ?? 'scheduled',
        status: status ?? 'scheduled',
      } as const
      const items = await read(page({ ...values, offset, limit }))
      const [all] = await read(total(values))
      return { items, total: all?.total ?? 0 }
    },

    async claimDue(lease, now, limit, except = []) {
      return write(undefined, function* () {
        const claimed: ExecutionRecord[] = []
        // locked first and by a statement of their own, so that not more than `limit` are locked
        for (const { id } of yield* due({ now, limit, except }))
          claimed.push(...(yield* claim({ ...lease, id, now })))
        return claimed
      })
    },
    async prolong(id, lease, now) {
      return (await write(undefined, () => prolong({ ...lease, id, now }))).length > 0
    },
    async settle(record, owner) {
      return (await write(undefined, () => settle({ ...record, owner }))).length > 0
    },
    async cancel(projectId, id, now, audit) {
      return write(audit, function* () {
        return (yield* cancel({ projectId, id, now }))[0]
      })
    },
    async countScheduled(projectId) {
      const [row] = await read(scheduledCount({ projectId }))
      return row?.total ?? 0
    },
    async sweep(before) {
      const limit = dialect.sweptAtOnce
      for (let gone = 0; ; await nextTurn()) {
        const { length } = await writeRepeatable(sweep({ before, limit }))
        gone += length
        if (length < limit) return gone
      }
    },
  }
}
