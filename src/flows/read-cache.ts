import type { Store, StoreChange } from '../store/store.ts'

/**
 * What was read from the store and is still what the store says: dropped when this process writes it (in the same
 * tick as the commit) and when any other process has written anything. So it cannot outlive a revocation.
 */
export interface ReadCache<T> {
  get(key: string, load: () => Promise<T>): T | Promise<T>
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
    const key = options.forgets(change)
    if (key === undefined) return
    epoch++
    if (key === 'all') values.clear()
    else values.delete(key)
  })

  return {
    get(key, load) {
      const current = store.foreignRevision()
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
