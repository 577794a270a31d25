import { LRUCache } from 'lru-cache'
import type { StoreChange } from '../store/changes.ts'
import type { Store } from '../store/store.ts'
import { atMost } from './cache-size.ts'

/**
 * A read-through cache, invalidated by store changes: by this process's own in the tick of the commit, and by those of
 * other processes, which it looks for at most every `CATCH_UP_MS`. So a value may be stale for that long. A token that
 * is handed out is checked again in the transaction that records its release, which never reads stale data.
 */
export interface ReadCache<T> {
  /** The cached value, without a promise, or what `load` reads. Values that change while they are read are not kept. */
  get(key: string, load: () => Promise<T>): T | Promise<T>
  readonly figures: CacheFigures
}

export interface CacheFigures {
  readonly entries: number
  /** Absent where entries are counted. */
  readonly bytes?: number
  /** Reads that were answered from memory, and those that were not, since the start. */
  readonly hits: number
  readonly misses: number
  /** Values that made room for others. */
  readonly evictions: number
}

/** How often the cache looks for changes of other processes: each look takes two system calls. */
const CATCH_UP_MS = 2

/** When this process last looked for changes of others, and what it learned. */
interface Look {
  at: number
  answer: number
}

/** The last look at each store, which all caches of the store share. */
const looks = new WeakMap<Store, Look>()

function lookAt(store: Store): Look {
  const known = looks.get(store) ?? { at: performance.now(), answer: store.catchUp() }
  looks.set(store, known)
  return known
}

/** Hears of changes of other processes, unless that was done just now. Another answer than before: changes were missed. */
export function catchUp(store: Store): number {
  const look = lookAt(store)
  const now = performance.now()
  if (now - look.at >= CATCH_UP_MS) {
    look.at = now
    look.answer = store.catchUp()
  }
  return look.answer
}

export interface ReadCacheOptions<T> {
  /** Entries, or bytes where `bytesOf` is given. */
  readonly max: number
  /** Estimates the memory that a value takes. It is asked once for each value, which may grow to that size later. */
  readonly bytesOf?: (value: T) => number
  /** Names the key that a change of the store invalidates: one, all, or none. */
  readonly forgets: (change: StoreChange) => string | 'all' | undefined
  /**
   * `second read`: a value for which others would have to make room is kept when its key was among the last keys that
   * were read, about as many as the cache holds. So many keys which are each read once do not displace those that are
   * read again.
   */
  readonly replacesFrom?: 'first read' | 'second read'
}

/** The least that a value with its key takes, by which a cache of bytes remembers keys. */
const LEAST_BYTES = 4_096

export function createReadCache<T extends object>(store: Store, options: ReadCacheOptions<T>): ReadCache<T> {
  const { max, bytesOf } = options
  let hits = 0
  let misses = 0
  let evictions = 0
  const values = new LRUCache<string, T>({
    ...atMost(max),
    ...(bytesOf && { sizeCalculation: (value: T, key: string) => sizeOf(key, value) }),
    dispose(_value, _key, reason) {
      if (reason === 'evict') evictions++
    },
  })
  const remembered = bytesOf === undefined ? max : Math.ceil(max / LEAST_BYTES)
  const wasReadBefore = options.replacesFrom === 'second read' ? createReadBefore(remembered) : () => true
  const sizeOf = (key: string, value: T) => (bytesOf === undefined ? 1 : bytesOf(value) + key.length)
  const look = lookAt(store)
  let missed = store.catchUp()
  // a value that was being read while something changed may be older than the change
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
      const now = performance.now()
      if (now - look.at >= CATCH_UP_MS) {
        look.at = now
        look.answer = store.catchUp()
      }
      if (look.answer !== missed) {
        missed = look.answer
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

/** Tells whether a key is among the last `most / 2` to `most` different ones that it was asked about. */
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
