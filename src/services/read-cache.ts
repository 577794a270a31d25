import { LRUCache } from 'lru-cache'
import type { StoreChange } from '../store/changes.ts'
import type { Store } from '../store/store.ts'
import { maxEntries } from './cache-size.ts'

/**
 * A read-through cache, invalidated by store changes. Changes by this process invalidate it in the tick of the commit. It
 * asks for changes by other processes at most every `CATCH_UP_MS`, so a value may be stale for that long. The transaction
 * that records a token's release checks the token again, and never reads stale data.
 */
export interface ReadCache<T> {
  /** The cached value, without a promise, or the value that `load` reads. A value that changes while it is read is not cached. */
  get(key: string, load: () => Promise<T>): T | Promise<T>
  readonly figures: CacheFigures
}

/** The size of a cache and its counts, for the metrics. */
export interface CacheFigures {
  readonly entries: number
  /** Absent where entries are counted. */
  readonly bytes?: number
  /** Reads that were answered from memory, and those that were not, since the start. */
  readonly hits: number
  readonly misses: number
  /** Values that were removed to make room for others. */
  readonly evictions: number
}

/** How often a store is asked for changes by other processes: each time takes two system calls. */
const CATCH_UP_MS = 2

/** The last `catchUp` of a store: its time, and the number that it returned. */
interface CatchUp {
  at: number
  revision: number
}

/** The last `catchUp` of each store. All caches of a store share it. */
const lastCatchUps = new WeakMap<Store, CatchUp>()

function lastCatchUpOf(store: Store): CatchUp {
  const known = lastCatchUps.get(store) ?? { at: performance.now(), revision: store.catchUp() }
  lastCatchUps.set(store, known)
  return known
}

/**
 * Applies changes by other processes, at most every `CATCH_UP_MS`. If the returned number differs from the last one,
 * changes were missed, and everything that was read before may be stale.
 */
export function catchUp(store: Store, last = lastCatchUpOf(store)): number {
  const now = performance.now()
  if (now - last.at >= CATCH_UP_MS) {
    last.at = now
    last.revision = store.catchUp()
  }
  return last.revision
}

export interface ReadCacheOptions<T> {
  /** Entries, or bytes where `bytesOf` is given. */
  readonly max: number
  /** Estimates the memory that a value takes, in bytes. Called once for each value, so it includes later growth. */
  readonly bytesOf?: (value: T) => number
  /** Names the key that a change of the store invalidates: one, all, or none. */
  readonly forgets: (change: StoreChange) => string | 'all' | undefined
  /**
   * When a full cache keeps a new value. `first read`: always. `second read`: only if its key was read recently (the cache
   * remembers about as many keys as it has room for), so that keys which are read once do not displace those read again.
   */
  readonly replacesFrom?: 'first read' | 'second read'
}

/** A cache that is sized in bytes remembers as many keys as there is room for values of this size. */
const LEAST_BYTES = 4_096

export function createReadCache<T extends object>(store: Store, options: ReadCacheOptions<T>): ReadCache<T> {
  const { max, bytesOf } = options
  let hits = 0
  let misses = 0
  let evictions = 0
  const values = new LRUCache<string, T>({
    ...maxEntries(max),
    ...(bytesOf && { sizeCalculation: (value: T, key: string) => sizeOf(key, value) }),
    dispose(_value, _key, reason) {
      if (reason === 'evict') evictions++
    },
  })
  const remembered = bytesOf === undefined ? max : Math.ceil(max / LEAST_BYTES)
  const wasReadBefore = options.replacesFrom === 'second read' ? createReadBefore(remembered) : () => true
  const sizeOf = (key: string, value: T) => (bytesOf === undefined ? 1 : bytesOf(value) + key.length)
  const last = lastCatchUpOf(store)
  let revision = store.catchUp()
  // counts invalidations: a value whose read began before an invalidation may be outdated, and is not cached
  let epoch = 0

  store.onChange((change) => {
    const key = options.forgets(change)
    if (key === undefined) return
    epoch++
    if (key === 'all') values.clear()
    else values.delete(key)
  })

  return {
    get(key, load) {
      const current = catchUp(store, last)
      if (current !== revision) {
        revision = current
        values.clear()
        epoch++
      }
      const known = values.get(key)
      if (known !== undefined) {
        hits++
        return known
      }
      misses++
      const started = epoch
      const mayReplace = wasReadBefore(key)
      return load().then((value) => {
        const hasRoom = () => values.calculatedSize + sizeOf(key, value) <= max
        if (started === epoch && (mayReplace || hasRoom())) values.set(key, value)
        return value
      })
    },
    get figures() {
      return {
        entries: values.size,
        ...(bytesOf && { bytes: values.calculatedSize }),
        hits,
        misses,
        evictions,
      }
    },
  }
}

/** Returns a function that tells whether a key is among the last `most / 2` to `most` keys that it was called with. */
function createReadBefore(most: number): (key: string) => boolean {
  let older = new Set<string>()
  let newer = new Set<string>()
  return (key) => {
    if (newer.has(key)) return true
    const isKnown = older.has(key)
    if (newer.size >= most / 2) {
      older = newer
      newer = new Set()
    }
    newer.add(key)
    return isKnown
  }
}
