// What a rule can ask of a person before a call runs, and how the answer counts. The feature `approvals` keeps the answers.

/** How long an approval covers the same kind of call. Only `once` is bound to exactly one call. */
export const REMEMBER = ['once', 'hour', 'standing'] as const
export type Remember = (typeof REMEMBER)[number]

/** The people of whom one rule needs an approval. `user_in_client`: the user, through the client that made the call. */
export type ApprovedBy = 'user' | 'user_in_client' | ApproverGroup

/** `count` different people of the group. */
export interface ApproverGroup {
  readonly group: string
  readonly count: number
}

/** What an approval must be like. */
export interface ApprovalTerms {
  readonly by: ApprovedBy
  /** How long the question waits for an answer. */
  readonly expiresSeconds: number
  /** How long an approval that was given counts before the call is made. */
  readonly useWithinSeconds: number
  /** What the approver may choose from. */
  readonly remember: readonly Remember[]
}

/** A rule that wants what it matches approved. */
export interface ApprovalRule extends Omit<ApprovalTerms, 'by'> {
  /** `decision_point`: the people whom the decision point of the policy asks, outside of Gatepass. */
  readonly by: ApprovedBy | 'decision_point'
  readonly id: string
  /** A digest of the rule: it differs after each change of what the rule matches and asks. */
  readonly version: string
}

/** Names the rule in its version, for comparisons. */
export function ruleKey({ id, version }: Pick<ApprovalRule, 'id' | 'version'>): string {
  return `${id} ${version}`
}
