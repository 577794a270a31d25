import type { RequestedUse, UsedProvider } from '../../domain/requested-use.ts'
import type { Policy } from './domain.ts'
import { indexOf } from './policy-index.ts'
import { appliesTo, byProvider, type EvaluationContext } from './policy-match.ts'

/** Why a use is refused: a stable code, for the audit trail and the metrics. */
export const POLICY_REFUSAL_REASONS = [
  'denied',
  'not_allowed',
  'arguments_failed',
  'rate',
  'quota',
  'hook_refused',
  'hook_failed',
  'not_approved',
] as const
export type PolicyRefusalReason = (typeof POLICY_REFUSAL_REASONS)[number]

/** `arguments_failed`: a rule could not be compared with the arguments of the call. */
export type EvaluatedReason = 'denied' | 'not_allowed' | 'arguments_failed'

/** A rule that applies to the use, and the provider through which it applies. */
export interface AppliedPolicy {
  readonly policy: Policy
  readonly provider?: UsedProvider
}

/** The result of a project's rules for a use, before rates are counted and hooks asked. */
export interface Evaluation {
  readonly refusal?: { readonly reason: EvaluatedReason; readonly by: readonly AppliedPolicy[] }
  /** Rules that refuse the use when their rate is exceeded; in the order of their ids, as are the hooks. */
  readonly limits: readonly AppliedPolicy[]
  /** Rules that refuse the use when their quota is used up. */
  readonly quotas: readonly AppliedPolicy[]
  /** Rules whose hook is to be asked; if the rule has a rate, only when the rate is exceeded. */
  readonly hooks: readonly AppliedPolicy[]
  /** Rules that want the use approved by a person. */
  readonly approvals: readonly AppliedPolicy[]
  /** Rules that want it approved once their quota is used up. */
  readonly approvalsBeyond: readonly AppliedPolicy[]
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
  const asking = matches.filter(({ policy }) => policy.effect === 'approve')
  const approvals = asking.filter(({ policy }) => policy.match.quota === undefined)
  const approvalsBeyond = asking.filter(({ policy }) => policy.match.quota !== undefined)
  const quotas = denies.filter(({ policy }) => policy.match.quota !== undefined)
  const further = { limits, quotas, hooks, approvals, approvalsBeyond }

  const [denied] = denies.filter(
    ({ policy: { match } }) => match.rate === undefined && match.quota === undefined,
  )
  if (denied !== undefined) return { refusal: { reason: 'denied', by: [denied] }, ...further }

  const { verdicts } = context
  const failed =
    verdicts instanceof Map ? candidates.filter((policy) => verdicts.get(policy) === 'failed') : NONE
  const [unchecked] = failed.filter(({ effect }) => effect !== 'allow')
  if (unchecked !== undefined)
    return { refusal: { reason: 'arguments_failed', by: [{ policy: unchecked }] }, ...further }

  const allowing = candidates.filter(({ effect }) => effect === 'allow')
  const uncovered = parts.find((part) => !allowing.some((policy) => appliesTo(policy, part, context)))
  if (allows.length === 0 || uncovered === undefined) return further
  // an `allow` rule that could not be compared might have allowed it
  const [unknown] = failed
  if (unknown !== undefined)
    return { refusal: { reason: 'arguments_failed', by: [{ policy: unknown }] }, ...further }
  const { provider } = uncovered
  const by = allows.map((policy) => ({ policy, ...(provider && { provider }) }))
  return { refusal: { reason: 'not_allowed', by }, ...further }
}

/** The rules about arguments that apply to the use if its arguments are as they say. */
export function policiesOnArguments(
  policies: readonly Policy[],
  use: RequestedUse,
  context: EvaluationContext,
): readonly Policy[] {
  const { hasArguments, candidates } = indexOf(policies)
  if (!hasArguments || use.tool === undefined) return NONE
  const parts = byProvider(use)
  const open = { ...context, verdicts: 'ignored' } as const
  return candidates(parts).filter(
    (policy) => policy.match.arguments !== undefined && parts.some((part) => appliesTo(policy, part, open)),
  )
}

/** The rules by owners that apply to the use if an owner that is not known is as they say. */
export function policiesOnOwners(
  policies: readonly Policy[],
  use: RequestedUse,
  context: EvaluationContext,
): readonly Policy[] {
  const open = byProvider(use).filter(
    ({ provider }) => provider !== undefined && provider.owner === undefined,
  )
  if (open.length === 0) return NONE
  return policies.filter((policy) => {
    const { owners, ...match } = policy.match
    if (owners === undefined) return false
    const known = { ...context, verdicts: 'ignored' } as const
    return open.some((part) => appliesTo({ ...policy, match }, part, known))
  })
}

const NONE: readonly Policy[] = []
const NO_RULE_APPLIES: Evaluation = { limits: [], quotas: [], hooks: [], approvals: [], approvalsBeyond: [] }
