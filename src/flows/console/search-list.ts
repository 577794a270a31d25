import type { Browsed, PlaceInList } from '../../store/browse.ts'

/** Rows that a search without an index of its own reads at most, and how many at once. */
const MOST_READ = 2_000
const AT_ONCE = 500

export interface Searched<Row> extends Browsed<Row> {
  /** The search ended here although it has not filled its page: it goes on below this row. */
  readonly searchedTo?: Row
}

/**
 * A page of the rows that are accepted, of a list that has no index for it: reads at most 2,000 rows from the place on
 * towards the older ones. A page that begins above a row is searched like one that begins below it.
 */
export async function searchList<Row extends { readonly id: string }>(
  read: (place: PlaceInList, limit: number) => Promise<Browsed<Row>>,
  accepts: (row: Row) => boolean,
  { before }: PlaceInList,
  limit: number,
): Promise<Searched<Row>> {
  const found: Row[] = []
  let place: PlaceInList = before === undefined ? {} : { before }
  let last: Row | undefined
  for (let rows = 0; rows < MOST_READ; rows += AT_ONCE) {
    const page = await read(place, AT_ONCE)
    for (const row of page.rows) {
      last = row
      if (accepts(row)) found.push(row)
      if (found.length === limit)
        return { rows: found, older: row.id, ...(before !== undefined && { newer: before }) }
    }
    if (page.older === undefined) return { rows: found }
    place = { before: page.older }
  }
  return { rows: found, ...(last !== undefined && { older: last.id, searchedTo: last }) }
}
