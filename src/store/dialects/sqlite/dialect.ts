import { sql } from 'drizzle-orm'
import type { Dialect } from '../../database.ts'
import { SQLITE_RETRIES } from './failures.ts'

export const sqliteDialect: Dialect = {
  leaseNow: (now) => sql`${now}`,
  nowMs: sql`cast(unixepoch('subsec') * 1000 as integer)`,
  lock: (select) => select,
  elementsOf: (list) => sql`json_each(${list})`,
  membersOf: (object) => sql`json_each(${object})`,
  member: (column, name) => sql`json_extract(${column}, ${`$.${name}`})`,
  contains: (text, part) => sql`instr(${text}, ${part}) > 0`,
  sweptAtOnce: 100,
  retries: SQLITE_RETRIES,
}
