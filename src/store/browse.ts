import { and, asc, desc, gt, lt, type SQL } from 'drizzle-orm'
import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Database } from './database.ts'
import type { Present, Query } from './statement.ts'

/** Where a page of a list begins: before or after a key. Without either it has the newest rows. */
export interface ListPosition {
  readonly before?: string
  readonly after?: string
}

/** A page of a list, the newest first, without the number of all rows. */
export interface Browsed<Row> {
  readonly rows: readonly Row[]
  /** The key of the last row; set where older rows exist. */
  readonly older?: string | undefined
  /** The key of the first row; set where newer rows may exist. */
  readonly newer?: string | undefined
}

interface Ordered<Row> {
  limit(rows: number): Query<Row>
}

/** A list whose pages are read by an index. */
export interface BrowsedList<Values, Row> {
  /** A unique column in the order of time. An index has the matching rows in this order. */
  readonly key: AnySQLiteColumn
  readonly matching: (values: Values) => SQL | undefined
  readonly select: (where: SQL | undefined, order: SQL) => Ordered<Row>
  readonly keyOf: (row: Present<Row>) => string
}

export type Browse<Values, Row> = (
  values: Values,
  place: ListPosition,
  limit: number,
) => Promise<Browsed<Present<Row>>>

/** Makes the function that reads the rows that match before or after a key, by the index alone. */
export function createBrowse<Values extends object, Row>(
  { statement, read }: Pick<Database, 'statement' | 'read'>,
  { key, matching, select, keyOf }: BrowsedList<Values, Row>,
): Browse<Values, Row> {
  const newest = statement((p: Values & { rows: number }) => select(matching(p), desc(key)).limit(p.rows))
  const below = statement((p: Values & { rows: number; from: string }) =>
    select(and(matching(p), lt(key, p.from)), desc(key)).limit(p.rows),
  )
  const above = statement((p: Values & { rows: number; from: string }) =>
    select(and(matching(p), gt(key, p.from)), asc(key)).limit(p.rows),
  )

  return async (values, { before, after }, limit) => {
    const rows = limit + 1 // the row after the page tells whether the list goes on
    if (after !== undefined) {
      const found = await read(above({ ...values, rows, from: after }))
      const page = found.slice(0, limit).reverse()
      return paged(page, { hasOlder: page.length > 0, hasNewer: found.length > limit })
    }
    const found = await (before === undefined
      ? read(newest({ ...values, rows }))
      : read(below({ ...values, rows, from: before })))
    return paged(found.slice(0, limit), { hasOlder: found.length > limit, hasNewer: before !== undefined })
  }

  function paged(
    rows: readonly Present<Row>[],
    { hasOlder, hasNewer }: { readonly hasOlder: boolean; readonly hasNewer: boolean },
  ): Browsed<Present<Row>> {
    const [first, last] = [rows[0], rows.at(-1)]
    return {
      rows,
      ...(hasOlder && last !== undefined && { older: keyOf(last) }),
      ...(hasNewer && first !== undefined && { newer: keyOf(first) }),
    }
  }
}
