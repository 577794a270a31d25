import type { RequestedUse, UsedProvider } from '../../domain/requested-use.ts'
import type { Policy } from './domain.ts'
import { indexOf } from './policy-index.ts'
import { appliesTo, byProvider, type EvaluationContext } from './policy-match.ts'

/** Why a use is refused: a stable code, for the audit trail and the metrics. */
export type PolicyRefusalReason = 'denied' | 'not_allowed' | 'rate' | 'hook_refused' | 'hook_failed'

/** A rule that applies to the use, and the provider through which it applies. */
export interface AppliedPolicy {
  readonly policy: Policy
  readonly provider?: UsedProvider
}

/** The result of a project's rules for a use, before rates are counted and hooks asked. */
export interface Evaluation {
  readonly refusal?: { readonly reason: 'denied' | 'not_allowed'; readonly by: readonly AppliedPolicy[] }
  /** Rules that refuse the use when their rate is exceeded; in the order of their ids, as are the hooks. */
  readonly limits: readonly AppliedPolicy[]
  /** Rules whose hook is to be asked; if the rule has a rate, only when the rate is exceeded. */
  readonly hooks: readonly AppliedPolicy[]
}

/**
 * Evaluates the rules. A `deny` rule wins. If there are `allow` rules, the use of each provider needs a rule that
 * allows it. The index of `policies` skips rules that cannot apply; it is made once, so the array must not change
 * afterwards.
 */
export function evaluate(
  policies: readonly Policy[],
  use: RequestedUse,
  context: EvaluationContext,
): Evaluation {
  const parts = byProvider(use)
  const { allows, candidates: find } = indexOf(policies)
  const candidates = find(parts)
  if (candidates.length === 0 && allows.length === 0) return NO_RULE_APPLIES
  const matches = candidates.flatMap((policy): AppliedPolicy[] => {
    const part = parts.find((candidate) => appliesTo(policy, candidate, context))
    return part === undefined ? [] : [{ policy, ...(part.provider && { provider: part.provider }) }]
  })
  const denies = matches.filter(({ policy }) => policy.effect === 'deny')
  const limits = denies.filter(({ policy }) => policy.match.rate !== undefined)
  const hooks = matches.filter(({ policy }) => policy.effect === 'hook')

  const [denied] = denies.filter(({ policy }) => policy.match.rate === undefined)
  if (denied !== undefined) return { refusal: { reason: 'denied', by: [denied] }, limits, hooks }

  const allowing = candidates.filter(({ effect }) => effect === 'allow')
  const uncovered = parts.find((part) => !allowing.some((policy) => appliesTo(policy, part, context)))
  if (allows.length === 0 || uncovered === undefined) return { limits, hooks }
  const { provider } = uncovered
  const by = allows.map((policy) => ({ policy, ...(provider && { provider }) }))
  return { refusal: { reason: 'not_allowed', by }, limits, hooks }
}

const NO_RULE_APPLIES: Evaluation = { limits: [], hooks: [] }
