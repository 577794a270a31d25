import type { Browsed, ListPosition } from '../../store/browse.ts'

/** The most rows that a search without an index reads, in all and at once. */
const MOST_READ = 2_000
const AT_ONCE = 500

export interface Searched<Row> extends Browsed<Row> {
  /** The search stopped at this row before its page was full. The next search continues beyond it, in the same direction. */
  readonly searchedTo?: Row | undefined
}

/**
 * A page of the accepted rows of a list that has no index for the search. Reads at most 2,000 rows: from `position.before`
 * towards older rows, or from `position.after` towards newer ones.
 */
export async function searchList<Row extends { readonly id: string }>(
  read: (position: ListPosition, limit: number) => Promise<Browsed<Row>>,
  accepts: (row: Row) => boolean,
  position: ListPosition,
  limit: number,
): Promise<Searched<Row>> {
  const { before, after } = position
  const isUpwards = after !== undefined
  const found: Row[] = []

  /** `beyond`: the last row that was examined, if others may follow it. */
  function ended(beyond?: Row, searchedTo?: Row): Searched<Row> {
    const rows = isUpwards ? found.toReversed() : found
    const newer = isUpwards ? beyond?.id : before && (rows[0]?.id ?? before)
    const older = isUpwards ? (rows.at(-1)?.id ?? after) : beyond?.id
    return { rows, newer, older, searchedTo }
  }

  let from = position
  let last: Row | undefined
  for (let examined = 0; examined < MOST_READ; examined += AT_ONCE) {
    const page = await read(from, AT_ONCE)
    for (const row of isUpwards ? page.rows.toReversed() : page.rows) {
      last = row
      if (accepts(row)) found.push(row)
      if (found.length === limit) return ended(row)
    }
    const next = isUpwards ? page.newer : page.older
    if (next === undefined) return ended()
    from = isUpwards ? { after: next } : { before: next }
  }
  return ended(last, last)
}
