/** Options of an `LRUCache`. */
export interface CacheSize {
  readonly maxSize: number
  readonly sizeCalculation: () => number
}

/**
 * At most that many entries, and memory for those that are there: lru-cache's own `max` reserves memory for all of them,
 * 1 ms for 20,000, and `clear()` writes to all of it.
 */
export function atMost(entries: number): CacheSize {
  return { maxSize: entries, sizeCalculation: () => 1 }
}
