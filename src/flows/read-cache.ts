import type { Store, StoreChange } from '../store/store.ts'

/**
 * What was read from the store and is still what the store says: dropped when this process writes it (in the same
 * tick as the commit) and when any other process has written anything. So it cannot outlive a revocation.
 */
export interface ReadCache<T> {
  get(key: string, load: () => Promise<T>): T | Promise<T>
}

/** What was seen of other processes' writes; it holds while this run of JavaScript lasts and nothing here writes. */
let seen = new WeakMap<Store, number>()
let forgetting = false

/** Looking costs two system calls: once for all that is read before control goes back to the event loop. */
function foreignRevision(store: Store): number {
  const known = seen.get(store)
  if (known !== undefined) return known
  const revision = store.foreignRevision()
  seen.set(store, revision)
  if (!forgetting) {
    forgetting = true
    process.nextTick(forgetSeen)
  }
  return revision
}

function forgetSeen(): void {
  forgetting = false
  seen = new WeakMap()
}

/**
 * @param options.forgets which key a change of the store makes untrue: one, all, or none.
 */
export function createReadCache<T extends object>(
  store: Store,
  options: { readonly max: number; readonly forgets: (change: StoreChange) => string | 'all' | undefined },
): ReadCache<T> {
  const values = new Map<string, T>()
  let revision = store.foreignRevision()
  // what was being read while something changed may be older than the change
  let epoch = 0

  function forgetAll(): void {
    values.clear()
    epoch++
  }

  store.onChange((change) => {
    seen = new WeakMap() // another store of this process may be on the same database
    const key = options.forgets(change)
    if (key === undefined) return
    epoch++
    if (key === 'all') values.clear()
    else values.delete(key)
  })

  return {
    get(key, load) {
      const current = foreignRevision(store)
      if (current !== revision) {
        revision = current
        forgetAll()
      }
      const known = values.get(key)
      if (known !== undefined) return known
      const started = epoch
      return load().then((value) => {
        if (started === epoch) {
          if (values.size >= options.max) values.delete(values.keys().next().value ?? key)
          values.set(key, value)
        }
        return value
      })
    },
  }
}
