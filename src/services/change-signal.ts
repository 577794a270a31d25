import type { StoreChange } from '../store/changes.ts'
import type { Store } from '../store/store.ts'
import { outsideTraces } from './tracing.ts'

/** How often listeners are called while the database cannot announce changes by other processes. */
const UNANNOUNCED_MS = 1_000

/** Called with the change; without one when it is time to read again because changes may have been missed. */
export type ChangeListener = (change?: StoreChange) => void

/**
 * Tells listeners of changes of the store: by this process in the tick of the commit, by others at the next poll. The
 * store is polled only while there are listeners.
 */
export interface ChangeSignal {
  /** Calls the listener after each change of the topic. Returns the function that ends that. */
  subscribe(topic: string, listener: ChangeListener): () => void
  /** Resolves at the next change of the topic, at the latest after `ms`. */
  next(topic: string, ms: number): Promise<void>
  /**
   * Reads now and after each change of the topic, until `read` returns a value. Rejects with the reason of `signal` once
   * it aborts.
   */
  waitFor<Found>(topic: string, read: () => Promise<Found | undefined>, signal: AbortSignal): Promise<Found>
}

export interface ChangeSignalOptions {
  /** The topic that a change belongs to; `undefined` if no listener is interested. */
  readonly topicOf: (change: StoreChange) => string | undefined
  /** How often, while there are listeners, the store is asked for changes by other processes. */
  readonly pollMs: number
  /** How often the listeners are called even if no change was announced. By default never. */
  readonly rereadMs?: number
}

export function createChangeSignal(
  store: Pick<Store, 'onChange' | 'catchUp'>,
  { topicOf, pollMs, rereadMs = Infinity }: ChangeSignalOptions,
): ChangeSignal {
  const topics = new Map<string, Set<ChangeListener>>()
  let revision = store.catchUp()
  let rereadAt = performance.now()
  let polling: NodeJS.Timeout | undefined

  store.onChange((change) => {
    const topic = topics.size === 0 ? undefined : topicOf(change)
    if (topic !== undefined) for (const listener of [...(topics.get(topic) ?? [])]) listener(change)
  })

  function poll(): void {
    const current = store.catchUp()
    const now = performance.now()
    if (now - rereadAt < (current === revision ? rereadMs : Math.min(UNANNOUNCED_MS, rereadMs))) return
    revision = current
    rereadAt = now
    for (const listener of [...topics.values()].flatMap((listeners) => [...listeners])) listener()
  }

  function subscribe(topic: string, listener: ChangeListener): () => void {
    const listeners = topics.get(topic) ?? new Set()
    topics.set(topic, listeners.add(listener))
    // the interval serves all listeners, so it belongs to the trace of none
    polling ??= outsideTraces(() => setInterval(poll, pollMs)).unref()
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && topics.get(topic) === listeners) topics.delete(topic)
      if (topics.size > 0) return
      clearInterval(polling)
      polling = undefined
    }
  }

  return {
    subscribe,
    next(topic, ms) {
      return new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer)
          unsubscribe()
          resolve()
        }
        const timer = setTimeout(end, ms)
        const unsubscribe = subscribe(topic, end)
      })
    },
    async waitFor(topic, read, signal) {
      const aborted = Promise.withResolvers<never>()
      aborted.promise.catch(() => undefined)
      const abort = () => aborted.reject(signal.reason)
      signal.addEventListener('abort', abort)
      try {
        for (;;) {
          signal.throwIfAborted()
          const changed = Promise.withResolvers<void>()
          const unsubscribe = subscribe(topic, () => changed.resolve())
          try {
            const found = await read()
            if (found !== undefined) return found
            await Promise.race([changed.promise, aborted.promise])
          } finally {
            unsubscribe()
          }
        }
      } finally {
        signal.removeEventListener('abort', abort)
      }
    },
  }
}
