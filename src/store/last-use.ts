import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Dialect } from './database.ts'

/** When rows were last used, by their ids. */
export type Uses = Readonly<Record<string, EpochSeconds>>

/** The rows `used` of an UPDATE, with the columns `key` (an id) and `value` (a time). */
export function usedRows(dialect: Dialect, uses: Uses): SQL {
  return sql`${dialect.membersOf(uses)} as used`
}

/** What such an UPDATE writes: a later time that another process has stored stays. */
export function laterUse(column: SQLWrapper): SQL {
  const at = sql`cast(used.value as bigint)`
  return sql`case when ${column} > ${at} then ${column} else ${at} end`
}
