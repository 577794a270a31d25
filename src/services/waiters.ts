import { type Authorization, isSettled } from '../domain/authorization.ts'
import type { Store } from '../store/store.ts'

/** How often, while somebody waits, it is looked what other processes have written, and that nothing was missed. */
const CATCH_UP_MS = 50
/** How often all that is waited for is read again, whatever was or was not announced. */
const SAFETY_NET_MS = 20_000
/** As above while the database does not say what others write. */
const UNHEARD_MS = 1_000

type Wake = (settled: Authorization) => void

/** How many may wait at a time in this process, and how many of them for one owner. */
export interface WaitersLimits {
  readonly total: number
  readonly perOwner: number
}

export interface WaitOptions {
  readonly signal?: AbortSignal
  /** Whose place it takes, an API key's; without, it is our own waiting, which is never turned away. */
  readonly owner?: string
}

/** Those who wait for an authorization to settle. They are woken in the tick after the commit. */
export interface Waiters {
  /**
   * Resolves with the settled authorization, or with `undefined` after `ms`, when `signal` aborts, or at once when
   * there is no room.
   */
  wait(id: string, ms: number, options?: WaitOptions): Promise<Authorization | undefined>
  /** Whether the owner may wait for one more. */
  hasRoom(owner: string): boolean
  readonly count: number
  /** Whether `close` was called: from then on nobody is made to wait. */
  readonly closed: boolean
  /** Lets everybody go at once, with `undefined`. */
  close(): void
}

export function createWaiters(store: Store, { total, perOwner }: WaitersLimits): Waiters {
  const waiting = new Map<string, Set<Wake>>()
  const places = new Map<string, number>()
  const leavers = new Set<() => void>()
  let missed = store.catchUp()
  let lookedAt = performance.now()
  let poll: NodeJS.Timeout | undefined
  let closed = false

  async function look(id: string): Promise<void> {
    const wakes = waiting.get(id)
    if (wakes === undefined) return
    const authorization = await store.authorizations.find(id)
    if (authorization === undefined || !isSettled(authorization)) return
    for (const wake of [...wakes]) wake(authorization)
  }

  store.onChange((change) => {
    if (change.noun === 'authorization' && waiting.has(change.id)) void look(change.id).catch(() => {})
  })

  function catchUp(): void {
    const answer = store.catchUp()
    const now = performance.now()
    if (now - lookedAt < (answer === missed ? SAFETY_NET_MS : UNHEARD_MS)) return
    missed = answer
    lookedAt = now
    for (const id of waiting.keys()) void look(id).catch(() => {}) // the next look comes
  }

  const hasRoom = (owner: string) => leavers.size < total && (places.get(owner) ?? 0) < perOwner

  function take(owner: string): () => void {
    places.set(owner, (places.get(owner) ?? 0) + 1)
    return () => {
      const left = (places.get(owner) ?? 1) - 1
      if (left > 0) places.set(owner, left)
      else places.delete(owner)
    }
  }

  return {
    hasRoom,
    async wait(id, ms, { signal, owner } = {}) {
      if (closed || signal?.aborted || (owner !== undefined && !hasRoom(owner))) return undefined
      const free = owner === undefined ? () => {} : take(owner)
      return new Promise((resolve) => {
        const leave = (settled?: Authorization) => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', onAbort)
          if (leavers.delete(onAbort)) free()
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
        leavers.add(onAbort)
        const wakes = waiting.get(id) ?? new Set()
        wakes.add(leave)
        waiting.set(id, wakes)
        poll ??= setInterval(catchUp, CATCH_UP_MS)
        // it may have settled between the caller's look and now
        void look(id).catch(() => {})
      })
    },
    get count() {
      return leavers.size
    },
    get closed() {
      return closed
    },
    close() {
      closed = true
      for (const leave of [...leavers]) leave()
    },
  }
}
