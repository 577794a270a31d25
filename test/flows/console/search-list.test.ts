import { describe, expect, test } from 'vitest'
import { searchList } from '../../../src/flows/console/search-list.ts'
import type { Browsed, ListPosition } from '../../../src/store/browse.ts'

interface Row {
  readonly id: string
}

/** Ids in the order of time; a list gives the newest first. */
const idOf = (n: number) => `id_${String(n).padStart(5, '0')}`
const rowsUpTo = (count: number): Row[] => Array.from({ length: count }, (_, n) => ({ id: idOf(n) }))

/** As a list of the store reads its pages; `read` counts the rows. */
function listOf(rows: readonly Row[]) {
  const list = {
    read: 0,
    async page({ before, after }: ListPosition, limit: number): Promise<Browsed<Row>> {
      const newest = rows.toReversed()
      const below = newest.filter(({ id }) => before === undefined || id < before)
      const above = newest.filter(({ id }) => after !== undefined && id > after)
      const page = after === undefined ? below.slice(0, limit) : above.slice(-limit)
      list.read += page.length
      const [first, last] = [page[0], page.at(-1)]
      const hasOlder = last !== undefined && last !== rows[0]
      const hasNewer = first !== undefined && first !== rows.at(-1)
      return { rows: page, ...(hasOlder && { older: last.id }), ...(hasNewer && { newer: first.id }) }
    },
  }
  return list
}

const every = (nth: number) => (row: Row) => Number(row.id.slice(3)) % nth === 0

describe('a search of a list without an index', () => {
  test('gives pages that follow each other towards the older rows, and the same ones back', async () => {
    const { page } = listOf(rowsUpTo(1_300))
    const pages = [await searchList(page, every(10), {}, 50)]
    for (let older = pages[0]?.older; older !== undefined; older = pages.at(-1)?.older)
      pages.push(await searchList(page, every(10), { before: older }, 50))
    expect(pages.map(({ rows }) => rows.length)).toEqual([50, 50, 30])
    expect(pages[0]?.newer).toBeUndefined()
    const middle = await searchList(page, every(10), { after: pages[2]?.newer ?? '' }, 50)
    expect(middle.rows).toEqual(pages[1]?.rows)
    expect(await searchList(page, every(10), { before: middle.older ?? '' }, 50)).toEqual(pages[2])
    const first = await searchList(page, every(10), { after: middle.newer ?? '' }, 50)
    expect(first.rows).toEqual(pages[0]?.rows)
  })

  test.each([
    ['older', {}, 2_999],
    ['newer', { after: idOf(0) }, 1],
  ] as const)(
    'reads at most 2,000 rows towards the %s ones, and says how far it came',
    async (way, place, first) => {
      const list = listOf(rowsUpTo(3_000))
      const found = await searchList(list.page, () => false, place, 50)
      expect(list.read).toBe(2_000)
      const last = idOf(way === 'older' ? first - 1_999 : first + 1_999)
      expect(found).toMatchObject({ rows: [], searchedTo: { id: last }, [way]: last })
      const rest = await searchList(
        list.page,
        () => false,
        way === 'older' ? { before: last } : { after: last },
        50,
      )
      expect(rest.searchedTo).toBeUndefined()
    },
  )
})
