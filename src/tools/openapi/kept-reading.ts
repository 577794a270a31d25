import type { CatalogueItem } from '../backend.ts'
import { Refusal } from '../read-json.ts'

/** What was read of a worker's document, or why it could not be. */
export interface KeptReading {
  /** Of the settings it was read by. */
  readonly settings: string
  /** SHA-256 of the document as it came, where it came from a URL. */
  readonly digest?: string
  /** To ask the server whether it has changed (RFC 9110 section 13.1). */
  readonly etag?: string | undefined
  readonly lastModified?: string | undefined
  readonly items?: readonly CatalogueItem[]
  readonly refused?: string
}

/** Of as many workers. */
const MAX_KEPT = 200
/** A document is asked for every half minute and seldom changes, and a large one takes seconds to read. */
const kept = new Map<string, KeptReading>()

export function keep(workerUid: string, reading: KeptReading): void {
  kept.delete(workerUid)
  kept.set(workerUid, reading)
  const [oldest] = kept.keys()
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
}

/** What was read of the worker's document, by the same settings. */
export function readBefore(workerUid: string, settings: string): KeptReading | undefined {
  const before = kept.get(workerUid)
  return before?.settings === settings ? before : undefined
}

/** Reads it and keeps what came of it, a refusal too. Throws `Refusal`. */
export async function readAndKeep(
  workerUid: string,
  known: Pick<KeptReading, 'settings' | 'digest' | 'etag' | 'lastModified'>,
  read: () => Promise<readonly CatalogueItem[]>,
): Promise<readonly CatalogueItem[]> {
  try {
    const items = await read()
    keep(workerUid, { ...known, items })
    return items
  } catch (error) {
    if (error instanceof Refusal) keep(workerUid, { ...known, refused: error.message })
    throw error
  }
}

/** The same as before. Throws `Refusal` where it could not be read then. */
export function again({ items, refused }: KeptReading): readonly CatalogueItem[] {
  if (items !== undefined) return items
  throw new Refusal(refused ?? 'The document cannot be read.')
}
