import { type SQL, sql } from 'drizzle-orm'
import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { CUT_LINE, LONGEST_TRAIL } from '../domain/trail.ts'

/**
 * Appends lines to the trail, in the UPDATE that they describe. A full trail is replaced by them, so that the latest
 * attempt is always complete.
 */
export function withLines(column: AnySQLiteColumn, lines: string): SQL<string> {
  const before = sql`coalesce(${column}, '')`
  const full = sql.raw(String(LONGEST_TRAIL))
  return sql`case when length(${before}) > ${full} then ${sql.raw(`'${CUT_LINE}'`)} else ${before} end || cast(${lines} as text)`
}
