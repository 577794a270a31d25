import { z } from '@hono/zod-openapi'
import { limitQuery, wholeNumber } from './fields.ts'

/** `?offset=&limit=` of every list. A larger limit counts as the largest one, because some clients ask for 1000. */
export const pageQuery = {
  offset: wholeNumber({ min: 0 }).default(0),
  limit: limitQuery(100).default(25),
}

/** For lists whose clients read only the first page: without a limit the first page has all items. */
export const wholeListQuery = { offset: pageQuery.offset, limit: limitQuery(100).optional() }

const pageMembers = {
  total_count: z.number().int(),
  offset: z.number().int(),
  limit: z.number().int(),
  page_count: z.number().int(),
}

/** The schema of one page of a list, in the form of Arcade's API. */
export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), ...pageMembers })
}

/** `page_count` is the number of items in this page. Clients that find no `offset` in it ask for the same page for ever. */
export function toPage<T>(
  items: readonly T[],
  total: number,
  { offset, limit }: { offset: number; limit: number },
) {
  return { items, total_count: total, offset, limit, page_count: items.length }
}

/** One page of a list that has been read completely. */
export function slicePage<T>(all: readonly T[], page: { offset: number; limit: number }) {
  return toPage(all.slice(page.offset, page.offset + page.limit), all.length, page)
}
