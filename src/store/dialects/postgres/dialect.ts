import { sql } from 'drizzle-orm'
import type { AnyPgSelect } from 'drizzle-orm/pg-core'
import type { Dialect } from '../../database.ts'
import { POSTGRES_RETRIES } from './failures.ts'

const SECONDS = sql<number>`floor(extract(epoch from clock_timestamp()))::bigint`
const MILLISECONDS = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`

export const postgresDialect: Dialect = {
  leaseNow: () => SECONDS,
  leaseNowMs: MILLISECONDS,
  sharedNow: () => SECONDS,
  nowMs: MILLISECONDS,
  lock(select, how, by) {
    const unordered = select as AnyPgSelect // a SELECT of this database's builder
    const query = by === undefined ? unordered : (unordered.orderBy(sql`${by}`) as AnyPgSelect)
    if (how === 'for key share') return query.for('key share') as typeof select
    if (how === 'for no key update') return query.for('no key update') as typeof select
    return query.for('update', how === 'for update skip locked' ? { skipLocked: true } : {}) as typeof select
  },
  elementsOf: (list) => sql`json_array_elements_text(${list}::json)`,
  membersOf: (object) => sql`json_each_text(${object}::json)`,
  isOneOf(columns, keys) {
    const texts = columns.map((_, i) => sql`value ->> ${sql.raw(String(i))}`)
    const separator = sql.raw(', ')
    return sql`(${sql.join([...columns], separator)}) in (select ${sql.join(texts, separator)} from json_array_elements(${keys}::json))`
  },
  member: (column, name) => sql`${column}::json ->> ${name}`,
  contains: (text, part) => sql`strpos(${text}, ${part}) > 0`,
  sweptAtOnce: 1_000,
  retries: POSTGRES_RETRIES,
}
