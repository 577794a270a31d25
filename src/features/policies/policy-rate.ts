import { LRUCache } from 'lru-cache'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { RequestedUse } from '../../domain/requested-use.ts'
import { maxEntries } from '../../services/cache-size.ts'
import type { Policy, PolicyRate } from './domain.ts'

/** The most counters. The least recently used is dropped for a new one; a dropped counter can only permit more uses. */
const MAX_COUNTED = 20_000
/** The number of pieces into which the time window of a rate is divided. */
const PIECES = 60

/** Counts the uses that each policy with a rate matches. Every process has its own counts. */
export interface Rates {
  /** The seconds until the use is within the policy's rate; 0 if it is within now, or the policy has no rate. */
  secondsUntilWithinRate(policy: Policy, use: RequestedUse, at: EpochSeconds): number
  count(policy: Policy, use: RequestedUse, at: EpochSeconds): void
  readonly size: number
}

/** Uses per piece of time, oldest first; pieces are numbered from the epoch. */
type Counted = { readonly piece: number; count: number }[]

/**
 * Sliding windows of at most 61 counts each. A window of up to a minute is exact to the second. In a longer window a
 * use counts until all of its piece is older than the window, so that never more than `limit` uses fall within
 * `seconds`.
 */
export function createRates(max = MAX_COUNTED): Rates {
  const all = new LRUCache<string, Counted>(maxEntries(max))

  function current(key: string, rate: PolicyRate, at: EpochSeconds): Counted {
    const counted = all.peek(key) ?? [] // `peek`, so that a refused use does not count as the counter's last use
    const { width, kept } = piecesOf(rate)
    const latest = counted.at(-1)?.piece ?? 0
    // after a clock that was ahead is set back, its counts must not refuse uses until the clock reaches them again
    if (latest - pieceOf(at, width) > kept) return []
    const now = Math.max(pieceOf(at, width), latest)
    return counted.filter(({ piece }) => piece > now - kept)
  }

  return {
    secondsUntilWithinRate(policy, use, at) {
      const { rate } = policy.match
      if (rate === undefined) return 0
      const counted = current(keyOf(policy, rate, use), rate, at)
      let remaining = counted.reduce((sum, { count }) => sum + count, 0)
      const { width, kept } = piecesOf(rate)
      for (const { piece, count } of remaining < rate.limit ? [] : counted) {
        remaining -= count
        if (remaining < rate.limit) return Math.max((piece + kept) * width - at, 1)
      }
      return 0
    },
    count(policy, use, at) {
      const { rate } = policy.match
      if (rate === undefined) return
      const key = keyOf(policy, rate, use)
      const counted = current(key, rate, at)
      const piece = pieceOf(at, piecesOf(rate).width)
      const last = counted.at(-1)
      if (last !== undefined && last.piece >= piece) last.count++
      else counted.push({ piece, count: 1 })
      all.set(key, counted)
    },
    get size() {
      return all.size
    },
  }
}

function piecesOf({ seconds }: PolicyRate): { readonly width: number; readonly kept: number } {
  const width = Math.ceil(seconds / PIECES)
  return { width, kept: width === 1 ? seconds : Math.ceil(seconds / width) + 1 }
}

function pieceOf(at: EpochSeconds, width: number): number {
  return Math.floor(at / width)
}

/** Uses without a user, or without a tool, share one counter. A window of another length begins at zero. */
function keyOf({ projectId, id }: Policy, { per, seconds }: PolicyRate, use: RequestedUse): string {
  const whose = { user: use.userId, tool: use.tool?.id, project: undefined }[per]
  return JSON.stringify([projectId, id, seconds, per, whose ?? null])
}
