import { and, asc, count, desc, gt, lt, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { BrowsedList } from './browse.ts'
import type { Database } from './database.ts'
import type { Present } from './statement.ts'

/** A page of a list, in the order of its key. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly total: number
  /** Set where counting stopped at `MOST_COUNTED`: the list has at least `total` items. */
  readonly isMinimum?: true
  /** The key of the last item, where more items follow: `after` of the next page. */
  readonly next?: string
}

export interface PageRequest {
  /** How many items come before the page. They are skipped, unless `after` is given. */
  readonly offset: number
  readonly limit: number
  /** The key of the item before the page. */
  readonly after?: string | undefined
}

/** The most rows of a list that are counted, or skipped for an offset: both take about a millisecond. */
export const MOST_COUNTED = 10_000

/** A list that is read by pages, in the order of its key. */
export interface PagedList<Values, Row> extends BrowsedList<Values, Row> {
  readonly table: SQLiteTable
  readonly order: 'ascending' | 'descending'
}

/**
 * Makes the function that reads a page of the rows that match. A page after a key is found by the index. An offset skips
 * keys in the index one by one, so it is limited like the count.
 */
export function createPages<Values extends object, Row>(
  { query, statement, read }: Database,
  { table, key, order, matching, select, keyOf }: PagedList<Values, Row>,
): (values: Values, page: PageRequest) => Promise<Page<Present<Row>>> {
  const ordered = order === 'ascending' ? asc(key) : desc(key)
  const follows = (after: string) => (order === 'ascending' ? gt(key, after) : lt(key, after))

  const first = statement((p: Values & { rows: number }) => select(matching(p), ordered).limit(p.rows))
  const following = statement((p: Values & { rows: number; after: string }) =>
    select(and(matching(p), follows(p.after)), ordered).limit(p.rows),
  )
  const keyAt = statement((p: Values & { skipped: number }) =>
    query
      .select({ key: sql<string>`${key}` })
      .from(table)
      .where(matching(p))
      .orderBy(ordered)
      .limit(1)
      .offset(p.skipped),
  )
  const counted = statement((p: Values & { most: number }) =>
    query.select({ total: count() }).from(
      query
        .select({ one: sql`1`.as('one') })
        .from(table)
        .where(matching(p))
        .limit(p.most)
        .as('counted'),
    ),
  )

  /** Reads one row more than the page has, which tells whether the list goes on. */
  async function rowsOf(values: Values, { offset, limit, after }: PageRequest) {
    const rows = limit + 1
    if (after !== undefined) return read(following({ ...values, rows, after }))
    if (offset === 0) return read(first({ ...values, rows }))
    const [before] = await read(keyAt({ ...values, skipped: offset - 1 }))
    return before === undefined ? [] : read(following({ ...values, rows, after: before.key }))
  }

  return async (values, page) => {
    const found = await rowsOf(values, page)
    const items = found.length > page.limit ? found.slice(0, page.limit) : found
    const last = items.at(-1)
    const hasMore = found.length > items.length && last !== undefined
    const [all] = await read(counted({ ...values, most: MOST_COUNTED + 1 }))
    const total = all?.total ?? 0
    return {
      items,
      ...(total > MOST_COUNTED
        ? { total: Math.max(MOST_COUNTED, page.offset + found.length), isMinimum: true }
        : { total }),
      ...(hasMore && { next: keyOf(last) }),
    }
  }
}
