import { setImmediate as nextTurn } from 'node:timers/promises'
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
import type { ExecutionRecord } from '../../domain/execution.ts'
import { earliestFirst, present, settledRow, toExecution } from '../rows.ts'
import type { ExecutionFilter, Executions } from '../tool-nouns.ts'
import type { SqliteContext } from './database.ts'
import { executions } from './schema.ts'

/** How many one statement deletes, so that requests get their turn in between. */
const SWEPT_AT_ONCE = 500

const { request: _, result: __, leaseOwner: ___, leaseUntil: ____, ...listed } = getTableColumns(executions)

// spelled out, since a partial index serves no value that is bound
const isScheduled = sql`${executions.status} = 'scheduled'`
const isRunning = sql`${executions.status} = 'running'`

export function sqliteExecutions({ db, write }: SqliteContext): Executions {
  const named = (projectId: string, id: string) =>
    and(eq(executions.projectId, projectId), eq(executions.id, id))

  const insertion = insertionInto(db)

  return {
    async add(records, audit) {
      if (records.length === 0) return
      write(audit, () => {
        for (const record of records) insertion.run({ ...NOTHING, ...record })
        return true
      })
    },
    async find(projectId, id) {
      const row = db.select().from(executions).where(named(projectId, id)).get()
      return row && toExecution(row)
    },
    async list(projectId, filter, { offset, limit }) {
      const where = filtered(projectId, filter)
      const rows = db
        .select(listed)
        .from(executions)
        .where(where)
        .orderBy(desc(executions.id))
        .limit(limit)
        .offset(offset)
        .all()
      const total = db.select({ total: count() }).from(executions).where(where).get()?.total ?? 0
      return { items: rows.map(present), total }
    },

    async claimDue({ owner, seconds }, now, limit, except = []) {
      return write(undefined, (tx) =>
        tx
          .update(executions)
          .set({
            status: 'running',
            attempts: sql`${executions.attempts} + 1`,
            startedAt: now,
            updatedAt: now,
            leaseOwner: owner,
            leaseUntil: now + seconds,
          })
          .where(
            inArray(
              executions.id,
              tx
                .select({ id: executions.id })
                .from(executions)
                .where(
                  and(
                    or(
                      and(isScheduled, lte(executions.runAt, now)),
                      and(isRunning, lte(executions.leaseUntil, now)),
                    ),
                    notInArray(executions.projectId, [...except]),
                  ),
                )
                .orderBy(asc(executions.runAt), asc(executions.id))
                .limit(limit),
            ),
          )
          .returning()
          .all()
          .map(toExecution)
          .sort(earliestFirst),
      )
    },
    async prolong(id, { owner, seconds }, now) {
      const { changes } = db
        .update(executions)
        .set({ leaseUntil: now + seconds })
        .where(and(eq(executions.id, id), eq(executions.leaseOwner, owner)))
        .run()
      return changes > 0
    },
    async settle(record, owner) {
      const { changes } = db
        .update(executions)
        .set(settledRow(record))
        .where(and(named(record.projectId, record.id), eq(executions.leaseOwner, owner)))
        .run()
      return changes > 0
    },
    async cancel(projectId, id, now, audit) {
      const row = write(audit, (tx) =>
        tx
          .update(executions)
          .set({ status: 'cancelled', finishedAt: now, updatedAt: now })
          .where(and(named(projectId, id), isScheduled))
          .returning()
          .get(),
      )
      return row && toExecution(row)
    },
    async countScheduled(projectId) {
      const where = and(eq(executions.projectId, projectId), isScheduled)
      return db.select({ total: count() }).from(executions).where(where).get()?.total ?? 0
    },
    async sweep(before) {
      const ended = and(
        lt(executions.finishedAt, before),
        inArray(executions.status, ['completed', 'failed', 'cancelled']),
      )
      for (let gone = 0; ; await nextTurn()) {
        const some = db.select({ id: executions.id }).from(executions).where(ended).limit(SWEPT_AT_ONCE)
        const { changes } = db.delete(executions).where(inArray(executions.id, some)).run()
        gone += changes
        if (changes < SWEPT_AT_ONCE) return gone
      }
    },
  }
}

function filtered(projectId: string, { userId, toolId, type, status }: ExecutionFilter): SQL | undefined {
  return and(
    eq(executions.projectId, projectId),
    userId === undefined ? undefined : eq(executions.userId, userId),
    toolId === undefined ? undefined : eq(executions.toolId, toolId),
    type === undefined ? undefined : ofType(type),
    status === undefined ? undefined : eq(executions.status, status),
  )
}

function ofType(type: ExecutionRecord['type']): SQL {
  return type === 'scheduled' ? sql`${executions.type} = 'scheduled'` : eq(executions.type, type)
}

const COLUMNS = Object.keys(getTableColumns(executions))
const NOTHING = Object.fromEntries(COLUMNS.map((name) => [name, null]))

/** Every column by its name, so that the statement is made once. */
function insertionInto(db: SqliteContext['db']) {
  const holders = Object.fromEntries(COLUMNS.map((name) => [name, sql.placeholder(name)]))
  return db
    .insert(executions)
    .values(holders as unknown as typeof executions.$inferInsert) // the type wants values, and these stand for them
    .prepare()
}
