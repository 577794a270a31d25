import { LRUCache } from 'lru-cache'
import type { CatalogueItem } from '../backend.ts'
import { Refusal } from '../read-json.ts'

/** The result of reading a worker's document: its items, or why it was refused. */
export interface CachedReading {
  /** SHA-256 of the settings with which the document was read. */
  readonly settingsHash: string
  /** SHA-256 of the document's bytes, if it was fetched from a URL. */
  readonly digest?: string
  /** Validators for a conditional request (RFC 9110 section 13.1). */
  readonly etag?: string | undefined
  readonly lastModified?: string | undefined
  readonly items?: readonly CatalogueItem[] | undefined
  readonly refused?: string | undefined
}

/** How many workers' readings are kept. */
const MAX_KEPT = 200
/**
 * Results by worker. A document is fetched every half minute and seldom changes, and a large one takes seconds to
 * read.
 */
const kept = new LRUCache<string, CachedReading>({ max: MAX_KEPT })

/** Replaces the cached reading of the worker's document. */
export function cacheReading(workerUid: string, reading: CachedReading): void {
  kept.set(workerUid, reading)
}

/** The cached reading of the worker's document, if the settings are the same. */
export function cachedReading(workerUid: string, settingsHash: string): CachedReading | undefined {
  const before = kept.get(workerUid)
  return before?.settingsHash === settingsHash ? before : undefined
}

/** Reads the document and caches the items, or the reason of a refusal. Throws `Refusal`. */
export async function readAndCache(
  workerUid: string,
  known: Pick<CachedReading, 'settingsHash' | 'digest' | 'etag' | 'lastModified'>,
  read: () => Promise<readonly CatalogueItem[]>,
): Promise<readonly CatalogueItem[]> {
  try {
    const items = await read()
    cacheReading(workerUid, { ...known, items })
    return items
  } catch (error) {
    if (error instanceof Refusal) cacheReading(workerUid, { ...known, refused: error.message })
    throw error
  }
}

/** The items of a cached reading. Throws `Refusal` if the document was refused. */
export function cachedItems({ items, refused }: CachedReading): readonly CatalogueItem[] {
  if (items !== undefined) return items
  throw new Refusal(refused ?? 'The document cannot be read.')
}
