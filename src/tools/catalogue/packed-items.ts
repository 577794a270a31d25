import type { CatalogueItem, CatalogueTool } from '../backend.ts'
import { Refusal } from '../read-json.ts'
import { createTimeBudget } from '../slices.ts'
import { summaryOf } from './item-summary.ts'

/**
 * Items as a thread passes them to the event loop: the JSON of each in two parts, its summary and its description. The
 * summaries of all items are parsed in slices; a description is parsed only when the tool has changed.
 */
export interface PackedItems {
  readonly bytes: Uint8Array
  /** The end of each part, two for each item. */
  readonly ends: Uint32Array
}

/** The limit of the unpacked items: schemas that repeat a large definition could turn a short list into gigabytes. */
const MAX_BYTES = 256 * 1024 * 1024

/** Computes the summaries of the items and packs both. Throws `Refusal` for items that take too much memory. */
export function packItems(items: readonly CatalogueItem[], transfer: ArrayBuffer[]): PackedItems {
  const ends = new Uint32Array(2 * items.length)
  const parts: Buffer[] = []
  let end = 0
  const add = (text: string) => {
    const part = Buffer.from(text)
    end += part.length
    if (end > MAX_BYTES)
      throw new Refusal(`The tools take more than ${MAX_BYTES / 1024 / 1024} MiB when they are read.`)
    ends[parts.length] = end
    parts.push(part)
  }
  for (const item of items) {
    if (item.outcome === 'read') {
      const { tool, summary = summaryOf(tool), ...rest } = item
      add(JSON.stringify({ ...rest, summary }))
      add(JSON.stringify(tool))
    } else {
      add(JSON.stringify(item))
      add('')
    }
  }
  const bytes = new Uint8Array(end)
  let begin = 0
  for (const part of parts) {
    bytes.set(part, begin)
    begin += part.length
  }
  transfer.push(bytes.buffer, ends.buffer)
  return { bytes, ends }
}

/** Unpacks the items in slices. */
export async function unpackItems({ bytes, ends }: PackedItems): Promise<readonly CatalogueItem[]> {
  const budget = createTimeBudget()
  const decoder = new TextDecoder()
  const items: CatalogueItem[] = []
  let begin = 0
  for (let i = 0; i < ends.length; i += 2) {
    const [end = 0, endOfTool = 0] = ends.subarray(i, i + 2)
    // `packItems` has written both parts
    const item = JSON.parse(decoder.decode(bytes.subarray(begin, end))) as CatalogueItem
    if (end < endOfTool)
      Object.defineProperty(item, 'tool', {
        get: () => JSON.parse(decoder.decode(bytes.subarray(end, endOfTool))) as CatalogueTool,
        enumerable: true,
      })
    items.push(item)
    begin = endOfTool
    await budget.pause()
  }
  return items
}
