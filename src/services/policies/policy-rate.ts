import type { EpochSeconds } from '../../domain/clock.ts'
import type { Policy, PolicyRate } from '../../domain/policy.ts'
import type { PolicyUseOf } from './policy-match.ts'

/** What is counted at most; past it whoever was idle longest is forgotten, which only ever lets through more. */
const MAX_COUNTED = 20_000
/** A window is counted in so many pieces. */
const PIECES = 60

/** How often each rule with a rate was used, by this process alone. */
export interface Rates {
  /** 0, or in how many seconds the rule no longer refuses the use. */
  exceeded(policy: Policy, use: PolicyUseOf, at: EpochSeconds): number
  count(policy: Policy, use: PolicyUseOf, at: EpochSeconds): void
  readonly size: number
}

/** Uses in the order of time; the number of the piece of time counts from the epoch. */
type Counted = { readonly piece: number; count: number }[]

/**
 * A sliding window of at most 61 numbers for each that is counted. Windows of up to a minute are exact to the second;
 * of longer ones a use counts until its sixtieth part of the window is over, so that never more than `limit` are
 * within any `seconds`.
 */
export function createRates(max = MAX_COUNTED): Rates {
  const all = new Map<string, Counted>()

  function current(key: string, rate: PolicyRate, at: EpochSeconds): Counted {
    const counted = all.get(key) ?? []
    const { width, kept } = piecesOf(rate)
    const latest = counted.at(-1)?.piece ?? 0
    // a clock that was far ahead and was put right must not refuse until it is there again
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
      all.delete(key) // the last in the map is who was counted last
      if (all.size >= max) all.delete(all.keys().next().value ?? key)
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

/** Uses without a user or without a tool are counted together. A window of another length is counted anew. */
function keyOf({ projectId, id }: Policy, { per, seconds }: PolicyRate, use: PolicyUseOf): string {
  const whose = { user: use.userId, tool: use.tool?.id, project: undefined }[per]
  return JSON.stringify([projectId, id, seconds, per, whose ?? null])
}
