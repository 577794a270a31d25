/** Limits the concurrent requests of each host. Excess requests wait in a queue, first in, first out. */
export interface HostLimiter {
  /** Takes a slot, or joins the queue, which calls `onTaken` later. `undefined` when the queue is full. */
  acquire(host: string, onTaken: () => void): HostSlot | undefined
}

/** A slot of a host, or a place in the host's queue. */
export interface HostSlot {
  /** `false` while the request is in the queue. */
  readonly isTaken: boolean
  /** Releases the slot, or leaves the queue: `onTaken` is not called then. A second call has no effect. */
  release(): void
}

export interface HostLimits {
  /** Requests of one host at a time. */
  readonly concurrent: number
  /** Requests of one host that may wait for a slot. */
  readonly queued: number
}

interface HostSlots {
  taken: number
  readonly queue: Set<Slot>
}

export function createHostLimiter({ concurrent, queued }: HostLimits): HostLimiter {
  /** Only hosts with a request under way have an entry. */
  const hosts = new Map<string, HostSlots>()

  return {
    acquire(host, onTaken) {
      const slots = hosts.get(host) ?? { taken: 0, queue: new Set() }
      if (slots.taken < concurrent) {
        slots.taken++
        hosts.set(host, slots)
        return new Slot(hosts, host, slots, undefined)
      }
      if (slots.queue.size >= queued) return undefined
      const slot = new Slot(hosts, host, slots, onTaken)
      slots.queue.add(slot)
      return slot
    },
  }
}

class Slot implements HostSlot {
  readonly #hosts: Map<string, HostSlots>
  readonly #host: string
  readonly #slots: HostSlots
  /** Set while the slot is in the queue. */
  #onTaken: (() => void) | undefined
  #isReleased = false

  constructor(
    hosts: Map<string, HostSlots>,
    host: string,
    slots: HostSlots,
    onTaken: (() => void) | undefined,
  ) {
    this.#hosts = hosts
    this.#host = host
    this.#slots = slots
    this.#onTaken = onTaken
  }

  get isTaken(): boolean {
    return this.#onTaken === undefined
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    const { queue } = this.#slots
    if (!this.isTaken) {
      queue.delete(this)
      return
    }
    const [next] = queue
    if (next !== undefined) {
      next.#take() // the slot stays taken: the next request has it
      return
    }
    this.#slots.taken--
    if (this.#slots.taken === 0) this.#hosts.delete(this.#host)
  }

  #take(): void {
    this.#slots.queue.delete(this)
    const onTaken = this.#onTaken
    this.#onTaken = undefined
    onTaken?.()
  }
}
