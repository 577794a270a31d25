/** Limits the concurrent requests of each host. Excess requests wait in a queue, first in, first out. */
export interface HostLimiter {
  /**
   * Resolves with the function that releases the slot, once the host has a free one. Rejects with the signal's reason
   * when it aborts while the request waits. `undefined` when the host's queue is full.
   */
  acquire(host: string, signal: AbortSignal): Promise<Release> | undefined
}

/** Releases a slot. A second call has no effect. */
export type Release = () => void

export interface HostLimits {
  /** Requests of one host at a time. */
  readonly concurrent: number
  /** Requests of one host that may wait for a slot. */
  readonly queued: number
}

interface HostSlots {
  taken: number
  /** Each entry hands a slot over to the request that waits for it. */
  readonly queue: Set<() => void>
}

export function createHostLimiter({ concurrent, queued }: HostLimits): HostLimiter {
  /** Only hosts with a request under way have an entry. */
  const hosts = new Map<string, HostSlots>()

  function releaseOf(host: string, slots: HostSlots): Release {
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      const [next] = slots.queue
      if (next !== undefined) return next() // the slot stays taken: the next request has it
      slots.taken--
      if (slots.taken === 0) hosts.delete(host)
    }
  }

  return {
    acquire(host, signal) {
      const slots = hosts.get(host) ?? { taken: 0, queue: new Set() }
      if (slots.taken < concurrent) {
        slots.taken++
        hosts.set(host, slots)
        return Promise.resolve(releaseOf(host, slots))
      }
      if (slots.queue.size >= queued) return undefined
      return new Promise((resolve, reject) => {
        const leave = () => {
          slots.queue.delete(take)
          signal.removeEventListener('abort', giveUp)
        }
        const take = () => {
          leave()
          resolve(releaseOf(host, slots))
        }
        const giveUp = () => {
          leave()
          reject(signal.reason)
        }
        slots.queue.add(take)
        signal.addEventListener('abort', giveUp)
      })
    },
  }
}
