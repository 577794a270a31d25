import type { Store } from '../../store/store.ts'

/** How often, while a call waits, the store is asked for changes of other processes. */
const CATCH_UP_MS = 50
/** How often a waiting call reads its row even without an announced change. */
const REREAD_MS = 1_000

/** Waits for changes of the rows of suspended calls, by any process. */
export interface RowChanges {
  /**
   * Reads now and after each change of the row, until `read` returns a value. Rejects with the reason of `signal` once
   * it aborts.
   */
  waitFor<Found>(id: string, read: () => Promise<Found | undefined>, signal: AbortSignal): Promise<Found>
}

export function createRowChanges(store: Pick<Store, 'onChange' | 'catchUp'>): RowChanges {
  const waiting = new Map<string, Set<() => void>>()
  let timer: NodeJS.Timeout | undefined
  let ticks = 0

  store.onChange((change) => {
    if (change.noun === 'suspended_call') wake(change.id)
  })

  function wake(id: string): void {
    for (const resolve of waiting.get(id) ?? []) resolve()
  }

  function tick(): void {
    store.catchUp()
    if (++ticks % (REREAD_MS / CATCH_UP_MS) === 0) for (const id of waiting.keys()) wake(id)
  }

  /** Resolves at the next change of the row, or when it is time to read it again. */
  function nextChange(id: string): { readonly changed: Promise<void>; stop(): void } {
    const { promise, resolve } = Promise.withResolvers<void>()
    const ofRow = waiting.get(id) ?? new Set()
    waiting.set(id, ofRow)
    ofRow.add(resolve)
    timer ??= setInterval(tick, CATCH_UP_MS).unref()
    return {
      changed: promise,
      stop() {
        ofRow.delete(resolve)
        if (ofRow.size === 0 && waiting.get(id) === ofRow) waiting.delete(id)
        if (waiting.size > 0) return
        clearInterval(timer)
        timer = undefined
      },
    }
  }

  return {
    async waitFor(id, read, signal) {
      const aborted = Promise.withResolvers<never>()
      aborted.promise.catch(() => undefined)
      const abort = () => aborted.reject(signal.reason)
      signal.addEventListener('abort', abort)
      try {
        for (;;) {
          signal.throwIfAborted()
          const { changed, stop } = nextChange(id)
          try {
            const found = await read()
            if (found !== undefined) return found
            await Promise.race([changed, aborted.promise])
          } finally {
            stop()
          }
        }
      } finally {
        signal.removeEventListener('abort', abort)
      }
    },
  }
}
