import { createHash } from 'node:crypto'
import type { CatalogueItem } from '../backend.ts'
import { NOT_JSON, Refusal } from '../read-json.ts'
import { type PackedItems, packItems } from './packed-items.ts'

// The part of reading a catalogue that runs in a thread when the catalogue is large (read-catalogue.ts).

/** A worker's list of tools as it was received, in one or more pages of JSON. `About`: further input for reading it. */
export interface ReceivedCatalogue<About> {
  readonly pages: readonly Uint8Array[]
  readonly about: About
  /** The part of `about` that affects the items. The digest includes it. */
  readonly key?: string
  /** The digest of the previous list, as in `CatalogueBounds`. */
  readonly before?: string | undefined
}

/** The result of the thread. */
export type CatalogueReading =
  | { readonly outcome: 'unchanged' }
  | { readonly outcome: 'read'; readonly digest: string; readonly items: PackedItems }
  | { readonly outcome: 'refused'; readonly reason: string }

/** How a protocol reads the parsed pages. Throws `Refusal` for a list that cannot be read. */
export type ReadPages<About> = (pages: readonly unknown[], about: About) => readonly CatalogueItem[]

/** The limit for one worker, because lists, names and searches hold all tools of a project in memory. */
export const MAX_TOOLS = 20_000

/** Throws `Refusal` when a worker lists more than `MAX_TOOLS`. */
export function checkToolCount(tools: number): void {
  if (tools <= MAX_TOOLS) return
  const [listed, most] = [tools, MAX_TOOLS].map((number) => number.toLocaleString('en'))
  throw new Refusal(
    `The worker lists ${listed} tools. At most ${most} are accepted, so none of its tools was changed.`,
  )
}

/** Reads a list in the thread of `readCatalogue`, and adds the buffers of the result to `transfer`. */
export function readPacked<About>(
  received: ReceivedCatalogue<About>,
  read: ReadPages<About>,
  transfer: ArrayBuffer[],
): CatalogueReading {
  const { pages, about, before } = received
  const digest = digestOf(received)
  if (digest === before) return { outcome: 'unchanged' }
  try {
    return { outcome: 'read', digest, items: packItems(read(parsePages(pages), about), transfer) }
  } catch (error) {
    if (error instanceof Refusal) return { outcome: 'refused', reason: error.message }
    throw error
  }
}

/** Parses the pages as JSON. Throws `Refusal`. */
export function parsePages(pages: readonly Uint8Array[]): unknown[] {
  try {
    return pages.map((page) => JSON.parse(new TextDecoder().decode(page)))
  } catch {
    throw new Refusal(NOT_JSON) // the parser's own message would quote the answer
  }
}

/** SHA-256 of the pages and the key, in hexadecimal. */
export function digestOf({ pages, key = '' }: ReceivedCatalogue<unknown>): string {
  const hash = createHash('sha256')
  for (const page of pages) hash.update(`${page.length} `).update(page)
  return hash.update(key).digest('hex')
}
