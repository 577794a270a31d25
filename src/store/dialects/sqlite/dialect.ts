import { sql } from 'drizzle-orm'
import type { Dialect } from '../../database.ts'
import { SQLITE_RETRIES } from './failures.ts'

export const sqliteDialect: Dialect = {
  // subqueries, so that a statement calls the function once and not for each row
  leaseNow: (now) => sql`(select lease_clock(${now}))`,
  leaseNowMs: sql`(select lease_clock_ms())`,
  longestLeaseSeconds: 900,
  sharedNow: (now) => sql`${now}`,
  nowMs: sql`cast(unixepoch('subsec') * 1000 as integer)`,
  lock: (select) => select,
  elementsOf: (list) => sql`json_each(${list})`,
  membersOf: (object) => sql`json_each(${object})`,
  member: (column, name) => sql`json_extract(${column}, ${`$.${name}`})`,
  contains: (text, part) => sql`instr(${text}, ${part}) > 0`,
  sweptAtOnce: 100,
  retries: SQLITE_RETRIES,
}
