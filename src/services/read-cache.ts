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
  readonly size: number
}

/** How often the cache looks for changes of other processes: each look takes two system calls. */
const CATCH_UP_MS = 2

/** The last look at each store, which all caches of the store share. */
const looks = new WeakMap<Store, { at: number; answer: number }>()

function catchUp(store: Store): number {
  const now = performance.now()
  const last = looks.get(store)
  if (last === undefined) {
    const first = { at: now, answer: store.catchUp() }
    looks.set(store, first)
    return first.answer
  }
  if (now - last.at >= CATCH_UP_MS) {
    last.at = now
    last.answer = store.catchUp()
  }
  return last.answer
}

/** `forgets` names the key that a change of the store invalidates: one, all, or none. */
export function createReadCache<T extends object>(
  store: Store,
  options: { readonly max: number; readonly forgets: (change: StoreChange) => string | 'all' | undefined },
): ReadCache<T> {
  const values = new LRUCache<string, T>(atMost(options.max))
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
      const answer = catchUp(store)
      if (answer !== missed) {
        missed = answer
        values.clear()
        epoch++
      }
      const known = values.get(key)
      if (known !== undefined) return known
      const started = epoch
      return load().then((value) => {
        if (started === epoch) values.set(key, value)
        return value
      })
    },
    get size() {
      return values.size
    },
  }
}
