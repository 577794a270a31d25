import { GatepassError } from './errors.ts'
import type { RequestOptions } from './transport.ts'

/** A part of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** How many items the whole list has. */
  readonly totalCount: number
  readonly offset: number
  readonly limit: number
}

/** Which part of a list. */
export interface PageOptions extends RequestOptions {
  /** How many items to skip; 0 by default. */
  readonly offset?: number | undefined
  /** At most 100; 25 by default. */
  readonly limit?: number | undefined
}

/**
 * A list that requests its pages while it is iterated: `for await (const item of list)` requests one after the other, and
 * no further one after the loop has ended. Nothing is requested before.
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
}

const MAX_LIMIT = 100

type Load<Wire> = (
  part: { offset: number; limit: number },
  options: RequestOptions,
) => Promise<PageWire<Wire>>

/** `load` requests one page; `toItem` makes an item of one on the wire, which is the item itself without it. */
export function createList<Item>(load: Load<Item>): List<Item>
export function createList<Wire, Item>(load: Load<Wire>, toItem: (wire: Wire) => Item): List<Item>
export function createList<Item>(
  load: Load<Item>,
  toItem: (wire: Item) => Item = (wire) => wire,
): List<Item> {
  async function page({ offset = 0, limit = 25, ...options }: PageOptions = {}): Promise<Page<Item>> {
    const wire = await load({ offset, limit }, options)
    if (!Array.isArray(wire.items))
      throw new GatepassError('unexpected_answer', 'The answer is no list. Is this the URL of a Gatepass?')
    return {
      items: wire.items.map(toItem),
      totalCount: wire.total_count,
      offset: wire.offset,
      limit: wire.limit,
    }
  }

  async function* iterate(): AsyncGenerator<Item, void> {
    for (let offset = 0; ; ) {
      const { items, totalCount } = await page({ offset, limit: MAX_LIMIT })
      yield* items
      offset += items.length
      if (items.length === 0 || offset >= totalCount) return
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
