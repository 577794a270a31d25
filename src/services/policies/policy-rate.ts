import { LRUCache } from 'lru-cache'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { Policy, PolicyRate } from '../../domain/policy.ts'
import { maxEntries } from '../cache-size.ts'
import type { RequestedUse } from './policy-match.ts'

/** Counters kept; beyond them the least recently used is dropped, which can only permit more. */
const MAX_COUNTED = 20_000
/** A rate's window is counted in this many pieces. */
const PIECES = 60

/** Counts the uses of each rule with a rate. Every process counts for itself. */
export interface Rates {
  /** 0, or the seconds until the rule no longer refuses the use. */
  exceeded(policy: Policy, use: RequestedUse, at: EpochSeconds): number
  count(policy: Policy, use: RequestedUse, at: EpochSeconds): void
  readonly size: number
}

/** Uses per piece of time, oldest first; pieces are numbered from the epoch. */
type Counted = { readonly piece: number; count: number }[]

/**
 * Sliding windows of at most 61 numbers each. A window of up to a minute is exact to the second. In a longer one a use
 * counts until its sixtieth part of the window is over, so that never more than `limit` uses fall within `seconds`.
 */
export function createRates(max = MAX_COUNTED): Rates {
  const all = new LRUCache<string, Counted>(maxEntries(max))

  function current(key: string, rate: PolicyRate, at: EpochSeconds): Counted {
    const counted = all.peek(key) ?? [] // `peek`, so that a refused use does not count as the counter's last use
    const { width, kept } = piecesOf(rate)
    const latest = counted.at(-1)?.piece ?? 0
    // counts from a clock that was far ahead, and was then corrected, must not refuse uses until that time comes
    if (latest - pieceOf(at, width) > kept) return []
    const now = Math.max(pieceOf(at, width), latest)
    return counted.filter(({ piece }) => piece > now - kept)
  }

  return {
    exceeded(policy, use, at) {
      const { rate } = policy.match
      if (rate === undefined) return 0
      const counted = current(keyOf(policy, rate, use), rate, at)
      let left = counted.reduce((sum, { count }) => sum + count, 0)
      const { width, kept } = piecesOf(rate)
      for (const { piece, count } of left < rate.limit ? [] : counted) {
        left -= count
        if (left < rate.limit) return Math.max((piece + kept) * width - at, 1)
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
