import type { StoreChange } from '../store/changes.ts'
import type { Store } from '../store/store.ts'

/**
 * What was read from the store and is still what the store says: dropped when this process writes it (in the same
 * tick as the commit), and when another process has. What others write is looked for at most every few milliseconds,
 * which is all it can be late; a token that is handed out is checked again in the transaction that records it, and
 * that one is never late.
 */
export interface ReadCache<T> {
  get(key: string, load: () => Promise<T>): T | Promise<T>
  readonly size: number
}

/** How long it is believed that no other process has written: looking takes two system calls. */
const LOOK_MS = 2

/** The last look at each store. */
const looks = new WeakMap<Store, { at: number; answer: number }>()

function catchUp(store: Store): number {
  const now = performance.now()
  const last = looks.get(store)
  if (last === undefined) {
    const first = { at: now, answer: store.catchUp() }
    looks.set(store, first)
    return first.answer
  }
  if (now - last.at >= LOOK_MS) {
    last.at = now
    last.answer = store.catchUp()
  }
  return last.answer
}

/**
 * @param options.forgets which key a change of the store makes untrue: one, all, or none.
 */
export function createReadCache<T extends object>(
  store: Store,
  options: { readonly max: number; readonly forgets: (change: StoreChange) => string | 'all' | undefined },
): ReadCache<T> {
  const values = new Map<string, T>()
  let missed = store.catchUp()
  // what was being read while something changed may be older than the change
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
        if (started === epoch) {
          if (values.size >= options.max) values.delete(values.keys().next().value ?? key)
          values.set(key, value)
        }
        return value
      })
    },
    get size() {
      return values.size
    },
  }
}
