import { sha256 } from '../../domain/ids.ts'
import type { CatalogueItem } from '../backend.ts'

/** Of as many workers; past it the oldest is read anew. */
const MAX_KEPT = 200
const kept = new Map<string, { readonly digest: string; readonly items: readonly CatalogueItem[] }>()

/**
 * What was read of the same words before. A document is asked for every half minute and seldom changes, and a large one
 * takes seconds to read.
 */
export async function keptReading(
  workerUid: string,
  words: readonly string[],
  read: () => Promise<readonly CatalogueItem[]>,
): Promise<readonly CatalogueItem[]> {
  const digest = sha256(JSON.stringify(words))
  const before = kept.get(workerUid)
  if (before?.digest === digest) return before.items
  const items = await read()
  kept.delete(workerUid)
  kept.set(workerUid, { digest, items })
  const [oldest] = kept.keys()
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
  return items
}
