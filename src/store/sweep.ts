import { setTimeout as pause } from 'node:timers/promises'
import { and, inArray, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database } from './database.ts'

/**
 * Runs `slice` until it finds fewer rows than `limit`, the most that it takes at once, and returns how many it has taken
 * in all. After each slice it pauses as long as the slice took: requests of this process run meanwhile, and on SQLite the
 * writers of the others get their turn at the one write lock.
 */
export async function inSlices(limit: number, slice: () => Promise<readonly unknown[]>): Promise<number> {
  for (let taken = 0; ; ) {
    const begun = performance.now()
    const { length } = await slice()
    taken += length
    if (length < limit) return taken
    await pause(performance.now() - begun)
  }
}

/**
 * Returns the function that deletes, in slices, all rows of the table that meet the condition, found by the columns of a
 * key, and returns how many.
 *
 * The statement repeats the condition beside the list of keys: PostgreSQL makes the list from what was committed when the
 * statement began, and checks only what is beside it against a row that another node has changed since.
 */
export function deleteInSlices<Values extends object>(
  { query, statement, writeRepeatable, dialect }: Database,
  table: SQLiteTable,
  key: Readonly<Record<string, SQLiteColumn>>,
  condition: (values: Values) => SQL | undefined,
): (values: Values) => Promise<number> {
  const slice = statement((values: Values) => {
    const where = condition(values)
    const keys = query.select(key).from(table).where(where).limit(dialect.sweptAtOnce)
    const columns = Object.values(key)
    const [column, ...more] = columns
    const isAmong =
      column !== undefined && more.length === 0
        ? inArray(column, keys)
        : sql`(${sql.join(columns, sql`, `)}) in ${keys}`
    return query.delete(table).where(and(isAmong, where)).returning(key)
  })
  return (values) => inSlices(dialect.sweptAtOnce, () => writeRepeatable(slice(values)))
}
