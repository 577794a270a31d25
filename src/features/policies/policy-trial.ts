import type { EpochSeconds } from '../../domain/clock.ts'
import type { RequestedUse } from '../../domain/requested-use.ts'
import type { Policy } from './domain.ts'
import { quotaSubject } from './domain-quota-subject.ts'
import { type AppliedPolicy, type Evaluation, evaluate, type PolicyRefusalReason } from './evaluate.ts'
import { createRates, type Rates } from './policy-rate.ts'
import { windowAt } from './store-quota-window.ts'

/** The members of a past use that may no longer be known. */
export type UnknownMember = 'arguments' | 'hosts' | 'scopes' | 'workers'

/** A use of tokens that took place, with what is known of it today. */
export interface PastUse extends RequestedUse {
  /** The id of the API key or MCP client that made the call. */
  readonly agent?: string
  readonly at: EpochSeconds
  readonly unknown: readonly UnknownMember[]
}

/** What the rules would have decided about a past use. */
export type TrialVerdict =
  | { readonly decision: 'permitted' }
  | {
      readonly decision: 'refused'
      readonly reason: PolicyRefusalReason
      readonly by: readonly AppliedPolicy[]
    }
  | {
      /** The use would have waited until people approve it. */
      readonly decision: 'asked'
      readonly by: readonly AppliedPolicy[]
    }
  | {
      readonly decision: 'undecided'
      readonly because: readonly ('hook' | UnknownMember)[]
      readonly by: readonly AppliedPolicy[]
    }

/** Judges past uses by rules. */
export interface PolicyTrial {
  /** To be called in the order of the uses' times, because rates count them. */
  judge(use: PastUse): TrialVerdict
}

/** How a rule that names an unknown member of the use is read: `strict` against the use, `lenient` in its favour. */
export type Reading = 'strict' | 'lenient'

interface Judged {
  readonly refusal?: { readonly reason: PolicyRefusalReason; readonly by: readonly AppliedPolicy[] }
  readonly hooks: readonly AppliedPolicy[]
  /** The rules that would have asked people. */
  readonly approvals: readonly AppliedPolicy[]
}

const NOBODY = { hooks: [], approvals: [] }
const PERMITTED: TrialVerdict = { decision: 'permitted' }

/**
 * Judges each use twice, in both readings of its unknown members. If both give the same verdict, the unknown members do
 * not matter; otherwise the use is undecided. Each reading has its own rates. No hook is asked: a hook that has not changed
 * since must have agreed, because the use took place.
 */
export function createPolicyTrial(policies: readonly Policy[]): PolicyTrial {
  const inForce = policies.filter(({ enabled }) => enabled)
  const counters = { strict: createCounters(), lenient: createCounters() }
  const policiesByReading = new Map<string, readonly Policy[]>()

  function policiesFor(unknown: readonly UnknownMember[], reading: Reading): readonly Policy[] {
    if (unknown.length === 0) return inForce
    const key = `${reading} ${unknown.join()}`
    const known = policiesByReading.get(key)
    if (known !== undefined) return known
    const made = inForce.map((policy) => readFor(policy, unknown, reading))
    policiesByReading.set(key, made)
    return made
  }

  function judgeBy(reading: Reading, use: PastUse, evaluation: Evaluation): Judged {
    const { refusal } = evaluation
    return refusal === undefined ? counted(counters[reading], use, evaluation) : { refusal, ...NOBODY }
  }

  return {
    judge(use) {
      const context = { at: use.at, scopes: 'granted' } as const
      const [strictly, leniently] = [policiesFor(use.unknown, 'strict'), policiesFor(use.unknown, 'lenient')]
      const evaluation = evaluate(strictly, use, context)
      const strict = judgeBy('strict', use, evaluation)
      const lenient = judgeBy(
        'lenient',
        use,
        leniently === strictly ? evaluation : evaluate(leniently, use, context),
      )
      if (strict.refusal !== undefined && lenient.refusal !== undefined)
        return { decision: 'refused', ...lenient.refusal }
      const { refusal } = strict.refusal === undefined ? lenient : strict
      if (refusal !== undefined) return { decision: 'undecided', because: use.unknown, by: refusal.by }
      const unasked = strict.hooks.filter(({ policy }) => policy.updatedAt > use.at)
      if (unasked.length > 0) return { decision: 'undecided', because: ['hook'], by: unasked }
      if (lenient.approvals.length > 0) return { decision: 'asked', by: lenient.approvals }
      if (strict.approvals.length === 0) return PERMITTED
      return { decision: 'undecided', because: use.unknown, by: strict.approvals }
    },
  }
}

interface Counters {
  readonly rates: Rates
  /** Uses by rule, window and subject: at most one for each use that is judged. */
  readonly quotas: Map<string, number>
}

function createCounters(): Counters {
  return { rates: createRates(), quotas: new Map() }
}

/** Refuses by a rate that is exceeded or a quota that is used up, else counts the use; returns the hooks and the approvals that would have been asked for. */
function counted(
  { rates, quotas }: Counters,
  use: PastUse,
  { limits, quotas: applied, hooks, approvals, approvalsBeyond }: Evaluation,
): Judged {
  const exceeds = ({ policy }: AppliedPolicy) => rates.secondsUntilWithinRate(policy, use, use.at) > 0
  const exceeded = limits.find(exceeds)
  if (exceeded !== undefined) return { refusal: { reason: 'rate', by: [exceeded] }, ...NOBODY }
  const keyed = [...applied, ...approvalsBeyond].flatMap((match) => {
    const {
      id,
      match: { quota },
    } = match.policy
    if (quota === undefined) return []
    const { start } = windowAt(quota, use.at)
    const key = JSON.stringify([id, start, quotaSubject(quota, use, use.agent)])
    return { match, key, isUsedUp: (quotas.get(key) ?? 0) >= quota.limit }
  })
  const usedUp = keyed.find(({ isUsedUp, match }) => isUsedUp && match.policy.effect === 'deny')
  if (usedUp !== undefined) return { refusal: { reason: 'quota', by: [usedUp.match] }, ...NOBODY }
  const within = keyed.filter(({ isUsedUp }) => !isUsedUp)
  for (const { key } of within) quotas.set(key, (quotas.get(key) ?? 0) + 1)
  const beyond = keyed.filter(({ isUsedUp }) => isUsedUp).map(({ match }) => match)
  const asked = hooks.filter((match) => match.policy.match.rate === undefined || exceeds(match))
  for (const { policy } of [...limits, ...hooks]) rates.count(policy, use, use.at)
  return { hooks: asked, approvals: [...approvals, ...beyond] }
}

/** The rule in this reading, for uses with these unknown members: it matches by its other members alone, or never. */
export function readFor(
  policy: Policy,
  unknown: readonly (UnknownMember | 'owners')[],
  reading: Reading,
): Policy {
  const { match, effect } = policy
  if (unknown.every((member) => match[member] === undefined)) return policy
  const matches = (effect === 'allow') === (reading === 'lenient')
  if (!matches) return { ...policy, match: { ...match, uses: [] } }
  const rest = Object.entries(match).filter(([name]) => !unknown.some((member) => member === name))
  return { ...policy, match: Object.fromEntries(rest) } // only fewer members
}
