import { createHash } from 'node:crypto'
import { z } from '@hono/zod-openapi'
import { invalidMember } from '../../domain/errors.ts'
import { MOST_COUNTED, type Page, type PageRequest } from '../../store/page.ts'
import { pageQuery, pageSchema, toPage } from './page.ts'

/** The query parameters of lists that grow with the number of users: `limit` with `offset` or `cursor`. */
export const cursorQuery = {
  ...pageQuery,
  offset: pageQuery.offset.meta({
    description: `How many items to skip, at most ${MOST_COUNTED}. To go further use \`cursor\`.`,
  }),
  cursor: z.string().min(1).max(1_000).optional().meta({
    description: '`next_cursor` of the page before, with the same filters and without `offset`',
  }),
}

/** The schema of one page of such a list. */
export function cursorPageSchema<Item extends z.ZodType>(item: Item) {
  return pageSchema(item).extend({
    next_cursor: z.string().optional().meta({
      description:
        'Send it as `cursor` to get the next page; absent on the last page. Opaque, and not a secret.',
    }),
    total_count_is_minimum: z
      .literal(true)
      .optional()
      .meta({
        description: `Set when the list has more than ${MOST_COUNTED} items: \`total_count\` is a lower bound then`,
      }),
  })
}

/** Identifies the list to which a cursor belongs: its name, the project and the value of each filter. */
export type ListIdentity = readonly (string | undefined)[]

interface PageQuery {
  readonly offset: number
  readonly limit: number
  readonly cursor?: string | undefined
}

/** Parses the query. Throws `invalid_request` for a cursor of another list, and for an offset above the limit. */
export function requestedPage({ offset, limit, cursor }: PageQuery, list: ListIdentity): PageRequest {
  if (cursor === undefined) {
    if (offset > MOST_COUNTED)
      throw invalidMember(
        'offset',
        'too_large',
        `"offset" may be at most ${MOST_COUNTED}. Use "cursor" instead: each page has the cursor of the next page as "next_cursor".`,
      )
    return { offset, limit }
  }
  if (offset > 0)
    throw invalidMember('cursor', 'conflict', '"cursor" says where the page begins: leave "offset" out.')
  const [key, itemsBefore] = parseCursor(cursor, list)
  return { offset: itemsBefore, limit, after: key }
}

/** Makes the wire form of a page. If the page was requested by a cursor, `offset` is the number of items on the pages before it. */
export function toCursorPage<T>(
  items: readonly T[],
  { total, isMinimum, next }: Page<unknown>,
  { offset, limit }: PageRequest,
  list: ListIdentity,
) {
  return {
    ...toPage(items, total, { offset, limit }),
    ...(next !== undefined && { next_cursor: formatCursor(next, offset + items.length, list) }),
    ...(isMinimum && { total_count_is_minimum: isMinimum }),
  }
}

function formatCursor(key: string, itemsBefore: number, list: ListIdentity): string {
  return Buffer.from(JSON.stringify([digestOf(list), key, itemsBefore])).toString('base64url')
}

function parseCursor(cursor: string, list: ListIdentity): readonly [key: string, itemsBefore: number] {
  const [digest, key, itemsBefore] = decodeCursor(cursor)
  if (digest === digestOf(list) && typeof key === 'string' && isCount(itemsBefore)) return [key, itemsBefore]
  throw invalidMember(
    'cursor',
    'invalid',
    'This cursor was not made for this list with these filters. Start again without a cursor.',
  )
}

function decodeCursor(cursor: string): readonly unknown[] {
  try {
    const members: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(members) ? members : []
  } catch {
    return []
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function digestOf(list: ListIdentity): string {
  const members = list.map((member) => member ?? null)
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url').slice(0, 12)
}
