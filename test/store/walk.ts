import { expect } from 'vitest'
import type { Browsed, ListPosition } from '../../src/store/browse.ts'

/** Reads every page of two rows, from the newest row to the oldest, and back again. */
export async function walk<Row>(
  page: (place: ListPosition, limit: number) => Promise<Browsed<Row>>,
  keyOf: (row: Row) => string,
) {
  const pages = [await page({}, 2)]
  for (let older = pages[0]?.older; older !== undefined; older = pages.at(-1)?.older)
    pages.push(await page({ before: older }, 2))
  const back: Browsed<Row>[] = []
  for (let newer = pages.at(-1)?.newer; newer !== undefined; newer = back[0]?.newer)
    back.unshift(await page({ after: newer }, 2))
  expect(pages[0]?.newer).toBeUndefined()
  expect(back.flatMap(({ rows }) => rows)).toEqual(pages.slice(0, -1).flatMap(({ rows }) => rows))
  return pages.flatMap(({ rows }) => rows.map(keyOf))
}
