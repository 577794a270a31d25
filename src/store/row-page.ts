/** `next`: the uid after which the next page begins; absent on the last page. */
export interface RowPage<Row> {
  readonly rows: readonly Row[]
  readonly next?: string
}
