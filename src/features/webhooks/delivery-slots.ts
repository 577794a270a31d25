import { LRUCache } from 'lru-cache'

/** The most attempts of one process at a time, in all and to one webhook. */
const AT_ONCE = 64
const AT_ONCE_OF_WEBHOOK = 8
/** The most attempts at a time to failing webhooks, since each may last until its timeout. */
const PROBES_AT_ONCE = 16
/** The most attempts at a time to a webhook that has not answered this process yet. */
const FIRST_AT_ONCE = 2
const KNOWN_WEBHOOKS = 10_000

/** How an attempt ended. `overloaded`: the receiver gets too many requests. */
export type AttemptResult = 'answered' | 'failed' | 'overloaded'

/**
 * Limits the attempts that a process makes at once. A webhook begins with a few slots. Each answer adds one; an overloaded
 * receiver halves them, and a failed attempt resets them to the first few. So receivers that do not answer take few slots
 * from the others.
 */
export interface DeliverySlots {
  readonly free: number
  /** How many more attempts may go to the webhook; at most one at a time while it is probed. */
  freeFor(webhookId: string, how: { readonly isProbe: boolean }): number
  /** Takes a slot. Returns the function that releases it. */
  take(webhookId: string, how: { readonly isProbe: boolean }): (result: AttemptResult) => void
}

export function createSlots(): DeliverySlots {
  const taken = new Map<string, number>()
  const limits = new LRUCache<string, number>({ max: KNOWN_WEBHOOKS })
  let all = 0
  let probes = 0

  const takenOf = (id: string) => taken.get(id) ?? 0
  const limitOf = (id: string) => limits.get(id) ?? FIRST_AT_ONCE

  function adjustLimit(id: string, result: AttemptResult): void {
    const limit = limitOf(id)
    if (result === 'answered') limits.set(id, Math.min(limit + 1, AT_ONCE_OF_WEBHOOK))
    if (result === 'overloaded') limits.set(id, Math.max(1, Math.floor(limit / 2)))
    if (result === 'failed') limits.set(id, Math.min(limit, FIRST_AT_ONCE))
  }

  return {
    get free() {
      return AT_ONCE - all
    },
    freeFor(id, { isProbe }) {
      if (isProbe) return takenOf(id) > 0 || probes >= PROBES_AT_ONCE || all >= AT_ONCE ? 0 : 1
      return Math.max(0, Math.min(AT_ONCE - all, limitOf(id) - takenOf(id)))
    },
    take(id, { isProbe }) {
      all++
      if (isProbe) probes++
      taken.set(id, takenOf(id) + 1)
      return (result) => {
        all--
        if (isProbe) probes--
        const left = takenOf(id) - 1
        if (left > 0) taken.set(id, left)
        else taken.delete(id)
        adjustLimit(id, result)
      }
    },
  }
}
