import { setTimeout as pause } from 'node:timers/promises'
import { and, inArray, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { overAllOwners } from './all-owners.ts'
import type { Database } from './database.ts'

/** How many rows one statement reads or changes where a whole table is visited: PostgreSQL ends a statement after 10 s. */
export const VISITED_AT_ONCE = 1_000

/**
 * Runs `slice` until it finds no row. A slice that is smaller than its limit is not the last one: on PostgreSQL another node
 * may have deleted some of its rows meanwhile. Returns the number of all rows. After each slice it pauses as long as the
 * slice took, so that requests of this process run meanwhile and, on SQLite, other processes get the write lock.
 */
export async function inSlices(slice: () => Promise<readonly unknown[]>): Promise<number> {
  for (let taken = 0; ; ) {
    const begun = performance.now()
    const { length } = await slice()
    if (length === 0) return taken
    taken += length
    await pause(performance.now() - begun)
  }
}

/**
 * Returns a function that deletes all rows of the table that meet the condition, in slices, and returns how many. `key`:
 * the columns that identify a row, or a few rows that one slice may delete together.
 *
 * The statement has the condition twice, in the subquery for the keys and beside it. PostgreSQL evaluates the subquery on
 * the state when the statement began; if another node has changed a row since, it checks only the condition beside it.
 */
export function deleteInSlices<Values extends object>(
  database: Database,
  table: SQLiteTable,
  key: Readonly<Record<string, SQLiteColumn>>,
  condition: (values: Values) => SQL | undefined,
): (values: Values) => Promise<number> {
  const slice = database.statement(sliceOf(database, table, key, condition))
  return (values) => inSlices(() => database.writeRepeatable(slice(values)))
}

/** `deleteInSlices` in the background, of rows of all owners (`overAllOwners`). */
export function sweepInSlices<Values extends object>(
  database: Database,
  table: SQLiteTable,
  key: Readonly<Record<string, SQLiteColumn>>,
  condition: (values: Values) => SQL | undefined,
): (values: Values) => Promise<number> {
  const slice = overAllOwners(database, table, sliceOf(database, table, key, condition))
  return (values) => inSlices(() => slice(values, database.writeRepeatable))
}

function sliceOf<Values extends object>(
  { query, dialect }: Database,
  table: SQLiteTable,
  key: Readonly<Record<string, SQLiteColumn>>,
  condition: (values: Values) => SQL | undefined,
) {
  return (values: Values, part?: SQL) => {
    const where = and(condition(values), part)
    const keys = query.select(key).from(table).where(where).limit(dialect.sweptAtOnce)
    const columns = Object.values(key)
    const [column, ...more] = columns
    const isAmong =
      column !== undefined && more.length === 0
        ? inArray(column, keys)
        : sql`(${sql.join(columns, sql`, `)}) in ${keys}`
    return query.delete(table).where(and(isAmong, where)).returning(key)
  }
}
