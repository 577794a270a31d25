import { type Authorization, isSettled } from '../domain/authorization.ts'
import type { Store } from '../store/store.ts'
import { createChangeSignal } from './change-signal.ts'
import { createOwnerCounts } from './owner-counts.ts'

const POLL_MS = 50
const REREAD_MS = 20_000

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
  const changes = createChangeSignal(store, {
    topicOf: (change) => (change.noun === 'authorization' ? change.id : undefined),
    pollMs: POLL_MS,
    rereadMs: REREAD_MS,
  })
  const waiting = new Map<string, { readonly wakes: Set<Wake>; readonly unsubscribe: () => void }>()
  const owners = createOwnerCounts()
  /** A function for each wait that ends it without a result. */
  const waits = new Set<() => void>()
  let closed = false

  /** Reads the authorization, and ends its waits if it has settled. */
  async function reread(id: string): Promise<void> {
    const authorization = await store.authorizations.find(id)
    if (authorization === undefined || !isSettled(authorization)) return
    for (const wake of [...(waiting.get(id)?.wakes ?? [])]) wake(authorization)
  }

  /** One subscription for all waits for an authorization, so that a change costs one read. */
  function subscribe(id: string) {
    const read = () => void reread(id).catch(() => {}) // the next call of the signal reads it again
    return { wakes: new Set<Wake>(), unsubscribe: changes.subscribe(id, read) }
  }

  const hasRoom = (owner: string) => waits.size < total && owners.of(owner) < perOwner

  return {
    hasRoom,
    async wait(id, ms, { signal, owner } = {}) {
      if (closed || signal?.aborted || (owner !== undefined && !hasRoom(owner))) return undefined
      const uncount = owner === undefined ? () => {} : owners.add(owner)
      return new Promise((resolve) => {
        const leave = (settled?: Authorization) => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', onAbort)
          if (waits.delete(onAbort)) uncount()
          ofId.wakes.delete(leave)
          if (ofId.wakes.size === 0 && waiting.get(id) === ofId) {
            waiting.delete(id)
            ofId.unsubscribe()
          }
          resolve(settled)
        }
        const onAbort = () => leave()
        const timer = setTimeout(leave, ms)
        signal?.addEventListener('abort', onAbort)
        waits.add(onAbort)
        const ofId = waiting.get(id) ?? subscribe(id)
        ofId.wakes.add(leave)
        waiting.set(id, ofId)
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
