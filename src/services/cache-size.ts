/** Options of an `LRUCache`. */
export interface CacheSize {
  readonly maxSize: number
  readonly sizeCalculation: () => number
}

/**
 * Limits a cache to this many entries. lru-cache's own `max` would reserve memory for all of them at once (1 ms for
 * 20,000), and `clear()` would write to all of it.
 */
export function maxEntries(entries: number): CacheSize {
  return { maxSize: entries, sizeCalculation: () => 1 }
}
