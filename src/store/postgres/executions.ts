import {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  inArray,
  lt,
  lte,
  notInArray,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import { earliestFirst, present, settledRow, toExecution } from '../rows.ts'
import type { ExecutionFilter, Executions } from '../tool-nouns.ts'
import { databaseNow, type PostgresContext } from './database.ts'
import { executions } from './schema.ts'

/** How many one statement deletes, so that none takes longer than a statement may. */
const SWEPT_AT_ONCE = 5_000

const { request: _, result: __, leaseOwner: ___, leaseUntil: ____, ...listed } = getTableColumns(executions)

export function postgresExecutions({ db, write }: PostgresContext): Executions {
  const named = (projectId: string, id: string) =>
    and(eq(executions.projectId, projectId), eq(executions.id, id))

  return {
    async add(records, audit) {
      if (records.length === 0) return
      await write(audit, async (tx) => {
        await tx.insert(executions).values([...records])
        return true
      })
    },
    async find(projectId, id) {
      const [row] = await db.select().from(executions).where(named(projectId, id))
      return row && toExecution(row)
    },
    async list(projectId, filter, { offset, limit }) {
      const where = filtered(projectId, filter)
      const rows = await db
        .select(listed)
        .from(executions)
        .where(where)
        .orderBy(desc(executions.id))
        .limit(limit)
        .offset(offset)
      const [all] = await db.select({ total: count() }).from(executions).where(where)
      return { items: rows.map(present), total: all?.total ?? 0 }
    },

    async claimDue({ owner, seconds }, now, limit, except = []) {
      const rows = await write(undefined, async (tx) => {
        // by itself and before the update: a subquery might be run again, and lock more than `limit`
        const due = tx.$with('due').as(
          tx
            .select({ id: executions.id })
            .from(executions)
            .where(
              and(
                or(
                  and(eq(executions.status, 'scheduled'), lte(executions.runAt, now)),
                  and(eq(executions.status, 'running'), lte(executions.leaseUntil, databaseNow)),
                ),
                notInArray(executions.projectId, [...except]),
              ),
            )
            .orderBy(asc(executions.runAt), asc(executions.id))
            .limit(limit)
            .for('update', { skipLocked: true }),
        )
        return tx
          .with(due)
          .update(executions)
          .set({
            status: 'running',
            attempts: sql`${executions.attempts} + 1`,
            startedAt: now,
            updatedAt: now,
            leaseOwner: owner,
            leaseUntil: sql`${databaseNow} + ${seconds}`,
          })
          .from(due)
          .where(eq(executions.id, due.id))
          .returning(getTableColumns(executions))
      })
      return rows.map(toExecution).sort(earliestFirst)
    },
    async prolong(id, { owner, seconds }) {
      const { rowCount } = await write(undefined, (tx) =>
        tx
          .update(executions)
          .set({ leaseUntil: sql`${databaseNow} + ${seconds}` })
          .where(and(eq(executions.id, id), eq(executions.leaseOwner, owner))),
      )
      return (rowCount ?? 0) > 0
    },
    async settle(record, owner) {
      const { rowCount } = await write(undefined, (tx) =>
        tx
          .update(executions)
          .set(settledRow(record))
          .where(and(named(record.projectId, record.id), eq(executions.leaseOwner, owner))),
      )
      return (rowCount ?? 0) > 0
    },
    async cancel(projectId, id, now, audit) {
      const row = await write(audit, async (tx) => {
        const [cancelled] = await tx
          .update(executions)
          .set({ status: 'cancelled', finishedAt: now, updatedAt: now })
          .where(and(named(projectId, id), eq(executions.status, 'scheduled')))
          .returning()
        return cancelled
      })
      return row && toExecution(row)
    },
    async countScheduled(projectId) {
      const where = and(eq(executions.projectId, projectId), eq(executions.status, 'scheduled'))
      const [row] = await db.select({ total: count() }).from(executions).where(where)
      return row?.total ?? 0
    },
    async sweep(before) {
      const ended = and(
        lt(executions.finishedAt, before),
        inArray(executions.status, ['completed', 'failed', 'cancelled']),
      )
      for (let gone = 0; ; ) {
        const some = db.select({ id: executions.id }).from(executions).where(ended).limit(SWEPT_AT_ONCE)
        const { rowCount } = await db.delete(executions).where(inArray(executions.id, some))
        gone += rowCount ?? 0
        if ((rowCount ?? 0) < SWEPT_AT_ONCE) return gone
      }
    },
  }
}

function filtered(projectId: string, { userId, toolId, type, status }: ExecutionFilter): SQL | undefined {
  return and(
    eq(executions.projectId, projectId),
    userId === undefined ? undefined : eq(executions.userId, userId),
    toolId === undefined ? undefined : eq(executions.toolId, toolId),
    type === undefined ? undefined : eq(executions.type, type),
    status === undefined ? undefined : eq(executions.status, status),
  )
}
