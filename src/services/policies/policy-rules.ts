import type { Policy } from '../../domain/policy.ts'
import { byProvider, isAbout, type Look, type PolicyProvider, type PolicyUseOf } from './policy-match.ts'

/** Why a use is refused: a stable code, for the audit trail and the metrics. */
export type PolicyRefusalReason = 'denied' | 'not_allowed' | 'rate' | 'hook_refused' | 'hook_failed'

/** A rule that is about the use, and the provider because of which it is. */
export interface Hit {
  readonly policy: Policy
  readonly provider?: PolicyProvider
}

/** What a project's rules say of a use, before anything is counted or asked. */
export interface Judgement {
  readonly refusal?: { readonly reason: 'denied' | 'not_allowed'; readonly by: readonly Hit[] }
  /** Refused when there were too many; in the order of their ids, as are the hooks. */
  readonly limits: readonly Hit[]
  /** To be asked; one that has a rate only once that is exceeded. */
  readonly hooks: readonly Hit[]
}

/** Deny wins; then every provider's part of the use must be allowed by some rule, where there are any that allow. */
export function judge(policies: readonly Policy[], use: PolicyUseOf, look: Look): Judgement {
  const parts = byProvider(use)
  const hits = policies.flatMap((policy): Hit[] => {
    const part = parts.find((one) => isAbout(policy, one, look))
    return part === undefined ? [] : [{ policy, ...(part.provider && { provider: part.provider }) }]
  })
  const denies = hits.filter(({ policy }) => policy.effect === 'deny')
  const limits = denies.filter(({ policy }) => policy.match.rate !== undefined)
  const hooks = hits.filter(({ policy }) => policy.effect === 'hook')

  const [denied] = denies.filter(({ policy }) => policy.match.rate === undefined)
  if (denied !== undefined) return { refusal: { reason: 'denied', by: [denied] }, limits, hooks }

  const allows = policies.filter(({ effect }) => effect === 'allow')
  const uncovered = parts.find((part) => !allows.some((policy) => isAbout(policy, part, look)))
  if (allows.length === 0 || uncovered === undefined) return { limits, hooks }
  const { provider } = uncovered
  const by = allows.map((policy) => ({ policy, ...(provider && { provider }) }))
  return { refusal: { reason: 'not_allowed', by }, limits, hooks }
}
