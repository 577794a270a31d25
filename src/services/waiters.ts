import { type Authorization, isSettled } from '../domain/authorization.ts'
import type { Store } from '../store/store.ts'
import { outsideTraces } from './tracing.ts'

/** How often the store is asked for changes by other processes while requests wait. */
const CATCH_UP_MS = 50
/** How often the awaited authorizations are read even if no change was announced. */
const REREAD_MS = 20_000
/** How often they are read while the database cannot announce changes by other processes. */
const REREAD_UNANNOUNCED_MS = 1_000

type Wake = (settled: Authorization) => void

/** Concurrent waits in this process, and how many of them one owner may have. */
export interface WaitersLimits {
  readonly total: number
  readonly perOwner: number
}

export interface WaitOptions {
  readonly signal?: AbortSignal
  /** The API key that the wait is counted against; without one, it is a wait of the broker's own, which has no limit. */
  readonly owner?: string
}

/** Requests that wait for an authorization to settle. They resume in the tick after the commit. */
export interface Waiters {
  /**
   * Resolves with the settled authorization, or with `undefined` after `ms`, when `signal` aborts, or at once when
   * the owner's limit is reached.
   */
  wait(id: string, ms: number, options?: WaitOptions): Promise<Authorization | undefined>
  /** Whether the owner may have one more wait. */
  hasRoom(owner: string): boolean
  readonly count: number
  /** Whether `close` was called: from then on `wait` returns at once. */
  readonly closed: boolean
  /** Ends all waits with `undefined`. */
  close(): void
}

export function createWaiters(store: Store, { total, perOwner }: WaitersLimits): Waiters {
  const waiting = new Map<string, Set<Wake>>()
  const waitsByOwner = new Map<string, number>()
  /** A function for each wait that ends it without a result. */
  const waits = new Set<() => void>()
  let revision = store.catchUp()
  let rereadAt = performance.now()
  let poll: NodeJS.Timeout | undefined
  let closed = false

  /** Reads the authorization, and ends its waits if it has settled. */
  async function reread(id: string): Promise<void> {
    const wakes = waiting.get(id)
    if (wakes === undefined) return
    const authorization = await store.authorizations.find(id)
    if (authorization === undefined || !isSettled(authorization)) return
    for (const wake of [...wakes]) wake(authorization)
  }

  store.onChange((change) => {
    if (change.noun === 'authorization' && waiting.has(change.id)) void reread(change.id).catch(() => {})
  })

  function catchUp(): void {
    const current = store.catchUp()
    const now = performance.now()
    if (now - rereadAt < (current === revision ? REREAD_MS : REREAD_UNANNOUNCED_MS)) return
    revision = current
    rereadAt = now
    for (const id of waiting.keys()) void reread(id).catch(() => {}) // the next catch-up reads it again
  }

  const hasRoom = (owner: string) => waits.size < total && (waitsByOwner.get(owner) ?? 0) < perOwner

  function countWait(owner: string): () => void {
    waitsByOwner.set(owner, (waitsByOwner.get(owner) ?? 0) + 1)
    return () => {
      const left = (waitsByOwner.get(owner) ?? 1) - 1
      if (left > 0) waitsByOwner.set(owner, left)
      else waitsByOwner.delete(owner)
    }
  }

  return {
    hasRoom,
    async wait(id, ms, { signal, owner } = {}) {
      if (closed || signal?.aborted || (owner !== undefined && !hasRoom(owner))) return undefined
      const uncount = owner === undefined ? () => {} : countWait(owner)
      return new Promise((resolve) => {
        const leave = (settled?: Authorization) => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', onAbort)
          if (waits.delete(onAbort)) uncount()
          const wakes = waiting.get(id)
          wakes?.delete(leave)
          if (wakes?.size === 0) waiting.delete(id)
          if (waiting.size === 0) {
            clearInterval(poll)
            poll = undefined
          }
          resolve(settled)
        }
        const onAbort = () => leave()
        const timer = setTimeout(leave, ms)
        signal?.addEventListener('abort', onAbort)
        waits.add(onAbort)
        const wakes = waiting.get(id) ?? new Set()
        wakes.add(leave)
        waiting.set(id, wakes)
        poll ??= outsideTraces(() => setInterval(catchUp, CATCH_UP_MS)) // for all waiters
        // the authorization may have settled since the caller read it
        void reread(id).catch(() => {})
      })
    },
    get count() {
      return waits.size
    },
    get closed() {
      return closed
    },
    close() {
      closed = true
      for (const leave of [...waits]) leave()
    },
  }
}
