import type { ApprovalRule, ApprovalTerms, ApprovedBy } from '../../domain/approval.ts'
import { sha256 } from '../../domain/ids.ts'
import type { Policy } from './domain.ts'

/** The least that a policy of the effect `approve` asks, if its row says nothing: fails closed, to the user. */
const DEFAULT_TERMS: ApprovalTerms = {
  by: 'user',
  expiresSeconds: 600,
  useWithinSeconds: 600,
  remember: ['once'],
}

/** What a decision point decides: its task may last a day, and the approval counts as long as it says, at most a day. */
const OUTSIDE_TERMS = {
  by: 'decision_point',
  expiresSeconds: 86_400,
  useWithinSeconds: 86_400,
  remember: ['once'],
} as const

const rules = new WeakMap<Policy, ApprovalRule>()

/** Whether the policy's decision point may deny until an access request is approved there. */
export function mayHold({ effect, hook }: Policy): boolean {
  return effect === 'approve' || (effect === 'hook' && hook?.format === 'authzen')
}

/** Who approves what a policy of the effect `approve` matches. */
export function approversOf({ approve = DEFAULT_TERMS }: Policy): ApprovedBy {
  return approve.by
}

/** What the policy asks of the people who approve. Made once for each policy, since every use compares it. */
export function approvalRule(policy: Policy): ApprovalRule {
  const known = rules.get(policy)
  if (known !== undefined) return known
  const { id, match, hook, approve = DEFAULT_TERMS } = policy
  const made: ApprovalRule =
    hook === undefined
      ? { ...approve, id, version: sha256(JSON.stringify([match, approve])) }
      : { ...OUTSIDE_TERMS, id, version: sha256(JSON.stringify([match, hook])) }
  rules.set(policy, made)
  return made
}
