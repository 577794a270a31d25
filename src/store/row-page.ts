/** A page of rows in the order of their key, and the key after which the next page begins; absent on the last page. */
export interface RowPage<Row> {
  readonly rows: readonly Row[]
  readonly next?: string
}

/** The page of rows that were read with this limit: if there are fewer, the page is the last one. */
export function rowPage<Row>(rows: readonly Row[], limit: number, keyOf: (row: Row) => string): RowPage<Row> {
  const last = rows.length < limit ? undefined : rows.at(-1)
  return { rows, ...(last && { next: keyOf(last) }) }
}
