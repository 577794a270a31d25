import type { EpochSeconds } from '../../domain/clock.ts'
import type { RequestedUse } from '../../domain/requested-use.ts'
import type { Policy } from './domain.ts'
import { type AppliedPolicy, type Evaluation, evaluate, type PolicyRefusalReason } from './evaluate.ts'
import { createRates, type Rates } from './policy-rate.ts'

/** The members of a past use that may no longer be known. */
export type UnknownMember = 'hosts' | 'scopes' | 'workers'

/** A use of tokens that took place, with what is known of it today. */
export interface PastUse extends RequestedUse {
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
type Reading = 'strict' | 'lenient'

interface Judged {
  readonly refusal?: { readonly reason: PolicyRefusalReason; readonly by: readonly AppliedPolicy[] }
  readonly hooks: readonly AppliedPolicy[]
}

const PERMITTED: TrialVerdict = { decision: 'permitted' }

/**
 * Judges each use twice, in both readings of its unknown members. If both give the same verdict, the unknown members do
 * not matter; otherwise the use is undecided. Each reading has its own rates. No hook is asked: a hook that has not changed
 * since must have agreed, because the use took place.
 */
export function createPolicyTrial(policies: readonly Policy[]): PolicyTrial {
  const inForce = policies.filter(({ enabled }) => enabled)
  const rates = { strict: createRates(), lenient: createRates() }
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

  function judgeBy(reading: Reading, use: PastUse, { refusal, limits, hooks }: Evaluation): Judged {
    return refusal === undefined ? counted(rates[reading], use, limits, hooks) : { refusal, hooks: [] }
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
      return unasked.length === 0 ? PERMITTED : { decision: 'undecided', because: ['hook'], by: unasked }
    },
  }
}

/** Refuses by a rate that is exceeded, else counts the use; returns the hooks that would have been asked. */
function counted(
  rates: Rates,
  use: PastUse,
  limits: readonly AppliedPolicy[],
  hooks: readonly AppliedPolicy[],
): Judged {
  const exceeds = ({ policy }: AppliedPolicy) => rates.secondsUntilWithinRate(policy, use, use.at) > 0
  const exceeded = limits.find(exceeds)
  if (exceeded !== undefined) return { refusal: { reason: 'rate', by: [exceeded] }, hooks: [] }
  const asked = hooks.filter((match) => match.policy.match.rate === undefined || exceeds(match))
  for (const { policy } of [...limits, ...hooks]) rates.count(policy, use, use.at)
  return { hooks: asked }
}

/** The rule in this reading, for uses with these unknown members: it matches by its other members alone, or never. */
function readFor(policy: Policy, unknown: readonly UnknownMember[], reading: Reading): Policy {
  const { match, effect } = policy
  if (unknown.every((member) => match[member] === undefined)) return policy
  const matches = (effect === 'allow') === (reading === 'lenient')
  if (!matches) return { ...policy, match: { ...match, uses: [] } }
  const rest = Object.entries(match).filter(([name]) => !unknown.some((member) => member === name))
  return { ...policy, match: Object.fromEntries(rest) } // only fewer members
}
