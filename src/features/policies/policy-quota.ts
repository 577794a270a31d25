import { LRUCache } from 'lru-cache'
import type { Clock, EpochSeconds } from '../../domain/clock.ts'
import type { RequestedUse } from '../../domain/requested-use.ts'
import { maxEntries } from '../../services/cache-size.ts'
import { elapsedClock } from '../../services/elapsed-clock.ts'
import { callingAgent } from '../../services/request-context.ts'
import type { Policy } from './domain.ts'
import { quotaSubject } from './domain-quota-subject.ts'
import { type QuotaCounts, type QuotaOutcome, type QuotaUse, quotaBlock } from './store-quotas.ts'

const MAX_HELD = 20_000

/** Uses of a large quota that this process has counted in advance. */
interface Held {
  left: number
  readonly windowStart: EpochSeconds
  /** Whether the window that they were counted in still lasts, by the clock that all nodes share. */
  readonly isCurrent: () => boolean
}

/** The policy whose quota is used up, and the seconds until the window's end. */
export interface UsedUp {
  readonly policy: Policy
  readonly retryAfter: number
}

/** Counts the runs that policies with a quota match, over all nodes. */
export interface Quotas {
  /** The policy whose quota is used up, without counting. */
  findUsedUp(policies: readonly Policy[], use: RequestedUse): Promise<UsedUp | undefined>
  /** Counts the use for all of the policies, or for none if one of them is used up, which is returned. */
  take(policies: readonly Policy[], use: RequestedUse): Promise<UsedUp | undefined>
}

export function createQuotas(counts: QuotaCounts, now: Clock): Quotas {
  const held = new LRUCache<string, Held>(maxEntries(MAX_HELD))

  function usesOf(policies: readonly Policy[], use: RequestedUse): (QuotaUse & { readonly of: Policy })[] {
    return policies.flatMap((policy) => {
      const { projectId, id, match } = policy
      const { quota } = match
      if (quota === undefined) return []
      const subject = quotaSubject(quota, use, callingAgent())
      return { projectId, policy: id, quota, subject, of: policy }
    })
  }

  /** A changed quota does not use what was counted under the former one. */
  const keyOf = ({ projectId, policy, quota, subject }: QuotaUse) =>
    JSON.stringify([projectId, policy, subject, quota])

  function heldFor(use: QuotaUse): Held | undefined {
    const found = held.get(keyOf(use))
    return found !== undefined && found.left > 0 && found.isCurrent() ? found : undefined
  }

  function usedUp(outcome: QuotaOutcome, uses: readonly (QuotaUse & { readonly of: Policy })[]) {
    if (outcome.outcome === 'taken') return undefined
    const { of: policy } = uses.find((use) => use.policy === outcome.by.policy) ?? {}
    return policy && { policy, retryAfter: Math.max(1, outcome.window.end - outcome.at) }
  }

  return {
    async findUsedUp(policies, use) {
      const uses = usesOf(policies, use)
      const unknown = uses.filter((one) => heldFor(one) === undefined)
      return unknown.length === 0 ? undefined : usedUp(await counts.findUsedUp(unknown, now()), uses)
    },

    async take(policies, use) {
      const uses = usesOf(policies, use)
      const ready = uses.flatMap((one) => heldFor(one) ?? [])
      const missing = uses.filter((one) => heldFor(one) === undefined)
      for (const block of ready) block.left--
      if (missing.length === 0) return undefined
      const [began, elapsed] = [now(), elapsedClock()]
      const outcome = await counts.take(missing, began)
      if (outcome.outcome === 'used up') {
        for (const block of ready) block.left++
        return usedUp(outcome, uses)
      }
      for (const [i, one] of missing.entries()) {
        const taken = outcome.taken[i]
        if (quotaBlock(one.quota) === 1 || taken === undefined) continue
        const remaining: EpochSeconds = taken.window.end - outcome.at
        const isCurrent = () => elapsed() / 1000 < remaining - 1 && now() - began < remaining - 1
        const windowStart = taken.window.start
        const before = held.get(keyOf(one))
        // parallel uses may each have counted in advance
        if (before?.windowStart === windowStart) before.left += taken.count - 1
        else held.set(keyOf(one), { left: taken.count - 1, windowStart, isCurrent })
      }
      return undefined
    },
  }
}
