import { GatepassError } from './errors.ts'
import type { RequestOptions } from './transport.ts'

/** A part of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** How many items the whole list has; with `totalIsMinimum`, it has at least this many. */
  readonly totalCount: number
  /** Set for a list that is too long to be counted. */
  readonly totalIsMinimum?: true
  /** The `cursor` that requests the next page; absent on the last page and for lists without cursors. */
  readonly nextCursor?: string
  readonly offset: number
  readonly limit: number
}

/** Which part of a list. */
export interface PageOptions extends RequestOptions {
  /** `nextCursor` of the page before, in place of `offset`: a large offset is slow, a cursor is not. */
  readonly cursor?: string | undefined
  /** How many items to skip; 0 by default. */
  readonly offset?: number | undefined
  /** At most 100; 25 by default. */
  readonly limit?: number | undefined
}

/**
 * A list that requests its pages one after another while it is iterated by `for await (const item of list)`. Sends no
 * request before the loop begins or after it has ended.
 */
export interface List<Item> extends AsyncIterable<Item> {
  /** One page. */
  page(options?: PageOptions): Promise<Page<Item>>
  /** All items. */
  toArray(): Promise<Item[]>
}

/** A page on the wire. */
export interface PageWire<Item> {
  readonly items: readonly Item[]
  readonly total_count: number
  readonly offset: number
  readonly limit: number
  readonly next_cursor?: string | undefined
  readonly total_count_is_minimum?: true | undefined
}

const MAX_LIMIT = 100

/** Where a page begins, and how many items it may have. */
interface Part {
  readonly offset?: number
  readonly limit: number
  readonly cursor?: string
}

type Load<Wire> = (part: Part, options: RequestOptions) => Promise<PageWire<Wire>>

/** `load` requests one page. `toItem` converts an item from the wire; without it, items are returned unchanged. */
export function createList<Item>(load: Load<Item>): List<Item>
export function createList<Wire, Item>(load: Load<Wire>, toItem: (wire: Wire) => Item): List<Item>
export function createList<Item>(
  load: Load<Item>,
  toItem: (wire: Item) => Item = (wire) => wire,
): List<Item> {
  async function page({ cursor, offset, limit = 25, ...options }: PageOptions = {}): Promise<Page<Item>> {
    const begin = cursor === undefined ? { offset: offset ?? 0 } : { cursor, ...(offset && { offset }) }
    const wire = await load({ ...begin, limit }, options)
    if (!Array.isArray(wire.items))
      throw new GatepassError(
        'unexpected_answer',
        'The answer is not a list. Check that baseUrl is the URL of a Gatepass.',
      )
    return {
      items: wire.items.map(toItem),
      totalCount: wire.total_count,
      offset: wire.offset,
      limit: wire.limit,
      ...(wire.total_count_is_minimum && { totalIsMinimum: true as const }),
      ...(wire.next_cursor !== undefined && { nextCursor: wire.next_cursor }),
    }
  }

  async function* iterate(): AsyncGenerator<Item, void> {
    let begin: Pick<PageOptions, 'cursor' | 'offset'> = {}
    for (let received = 0; ; ) {
      const { items, totalCount, nextCursor } = await page({ ...begin, limit: MAX_LIMIT })
      yield* items
      received += items.length
      if (nextCursor !== undefined) begin = { cursor: nextCursor }
      else if (begin.cursor !== undefined || items.length === 0 || received >= totalCount) return
      else begin = { offset: received } // a list without cursors, or a server of version 0.1.0
    }
  }

  return {
    page,
    [Symbol.asyncIterator]: iterate,
    async toArray() {
      const all: Item[] = []
      for await (const item of iterate()) all.push(item)
      return all
    },
  }
}
