import { describe, expect, test } from 'vitest'
import { apiOver } from '../../src/cli/api.ts'
import { createList, type PageWire } from '../../src/sdk/client/pages.ts'

/** A list of seven items, served three at a time: by cursors, or by offsets alone as before cursors existed. */
function served(by: 'cursors' | 'offsets') {
  const asked: unknown[] = []
  return {
    asked,
    page(part: { readonly offset?: number; readonly cursor?: string; readonly limit: number }) {
      asked.push(part)
      const offset = part.cursor === undefined ? (part.offset ?? 0) : Number(part.cursor)
      const end = Math.min(offset + Math.min(3, part.limit), 7)
      const items = Array.from({ length: end - offset }, (_, i) => offset + i)
      const isCut = by === 'cursors' && end < 7
      const page = { items, total_count: by === 'cursors' ? 2 : 7, offset, limit: 3 }
      return { ...page, ...(isCut && { next_cursor: String(end) }) } satisfies PageWire<number>
    },
  }
}

const ALL = [0, 1, 2, 3, 4, 5, 6]
const AFTER_THE_FIRST = {
  cursors: [{ cursor: '3' }, { cursor: '6' }],
  offsets: [{ offset: 3 }, { offset: 6 }],
} as const

describe.each(['cursors', 'offsets'] as const)('a list that is served by %s', (by) => {
  test('is read whole by the library', async () => {
    const { asked, page } = served(by)
    expect(await createList<number>(async (part) => page(part)).toArray()).toEqual(ALL)
    expect(asked).toEqual([{ offset: 0 }, ...AFTER_THE_FIRST[by]].map((part) => ({ ...part, limit: 100 })))
  })

  test('is read whole by commands', async () => {
    const { asked, page } = served(by)
    const api = apiOver({
      place: 'the test',
      baseUrl: 'http://localhost',
      key: 'unused',
      async fetch(url) {
        const { limit, offset, ...rest } = Object.fromEntries(new URL(String(url)).searchParams)
        return Response.json(
          page({ ...rest, ...(offset !== undefined && { offset: Number(offset) }), limit: Number(limit) }),
        )
      },
    })
    const query = { user_id: 'ada' }
    expect(await api.list('listConnections', { query })).toEqual(ALL)
    expect(asked).toEqual(
      [{}, ...AFTER_THE_FIRST[by]].map((part) => ({ user_id: 'ada', ...part, limit: 100 })),
    )
    expect(await api.list('listConnections', {}, 4)).toEqual(ALL.slice(0, 4))
  })
})

test('a page says where the next one begins, and whether the total is a lower bound', async () => {
  const wire = { items: [1], total_count: 10_000, total_count_is_minimum: true, offset: 0, limit: 1 } as const
  const list = createList<number>(async () => ({ ...wire, next_cursor: 'c' }))
  expect(await list.page({ limit: 1 })).toEqual({
    items: [1],
    totalCount: 10_000,
    totalIsMinimum: true,
    offset: 0,
    limit: 1,
    nextCursor: 'c',
  })
})
