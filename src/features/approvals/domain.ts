import type { ApprovalRule, Remember } from '../../domain/approval.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { skeletonOf } from '../../domain/look-alike.ts'
import type { UseKind } from '../../domain/requested-use.ts'
import type { Sealed } from '../../domain/sealed.ts'

/**
 * A question to people about exactly one call, and their answer:
 *
 *   pending --approve (all that the rules ask for)--> approved --spend--> used
 *      |  `--deny--> denied                               |
 *      `--change of definition, rule, connection or agent--> superseded
 *
 * `pending` and `approved` end by time: `approvalAt` says so at once, and a job writes it.
 */
export interface Approval {
  /** `appr_…` */
  readonly id: string
  readonly projectId: string
  readonly userId?: string | undefined
  /** Who makes the call: an API key's id, or the client id of an MCP client. */
  readonly agent: string
  readonly use: UseKind
  /** The tool's id, or the provider's. */
  readonly subject: string
  /** SHA-256 of the call and all that the approval is bound to. */
  readonly digest: string
  readonly status: ApprovalStatus
  readonly rules: readonly ApprovalRule[]
  readonly decisions: readonly Decision[]
  /** Sealed JSON: the `ShownCall`. Deleted some time after the end. */
  readonly call?: Sealed | undefined
  readonly expiresAt: EpochSeconds
  /** Until when an approval that was given counts. */
  readonly useUntil?: EpochSeconds | undefined
  readonly executionId?: string | undefined
  /** The process that runs the call, while it does, if the call may be repeated: another goes on when this one has died. */
  readonly usedBy?: string | undefined
  readonly createdAt: EpochSeconds
  readonly endedAt?: EpochSeconds | undefined
  /** Keyed MAC over the members that grant rights; the store writes it. */
  readonly mac?: string
}

export const APPROVAL_STATUSES = [
  'pending',
  'approved',
  'used',
  'denied',
  'expired',
  'cancelled',
  'superseded',
] as const
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number]

/**
 * How it is proved who decided. `application`: by the page of the application that vouches for its users. `client`: by the
 * program that made the call, which the rule permits. `decision_point`: by the policy decision point of the rule.
 */
export type Proof = 'login' | 'application' | 'ticket' | 'console' | 'api_key' | 'client' | 'decision_point'

/** The answer of one person. */
export interface Decision {
  readonly decision: 'approve' | 'deny'
  /** The user, or the approver's subject. */
  readonly approver: string
  readonly proof: Proof
  /** The ids of the rules that the answer counts for. */
  readonly rules: readonly string[]
  readonly remember: Remember
  /** The arguments that stay the same while the approval is remembered, by name. */
  readonly fixed: readonly string[]
  /** The approver's sentence for the model. */
  readonly reason?: string | undefined
  readonly at: EpochSeconds
  /** The end of the answer, where a decision point has set one. */
  readonly until?: EpochSeconds | undefined
}

/** An approval that covers further calls, or a block of an agent. */
export interface StandingApproval {
  /** `stap_…` */
  readonly id: string
  readonly projectId: string
  readonly userId?: string | undefined
  readonly agent: string
  readonly kind: 'approval' | 'block'
  /** The tool's or provider's id; empty for a block, which is for everything. */
  readonly subject: string
  /** SHA-256 of what is covered: as an approval's digest, with the names of all arguments and the values of the fixed ones. */
  readonly digest: string
  /** The names of the fixed arguments. */
  readonly fixed: readonly string[]
  /** Sealed JSON: the `ShownCall` with the fixed arguments alone. */
  readonly call?: Sealed | undefined
  readonly createdAt: EpochSeconds
  readonly expiresAt: EpochSeconds
  readonly mac?: string
}

/** The approval in its state at `now`: a question without an answer, and an approval that was not used, have expired. */
export function approvalAt(approval: Approval, now: EpochSeconds): Approval {
  const { status, expiresAt, useUntil = expiresAt } = approval
  const end = status === 'pending' ? expiresAt : status === 'approved' ? useUntil : undefined
  return end === undefined || now < end ? approval : { ...approval, status: 'expired', endedAt: end }
}

export function isOpen({ status }: Pick<Approval, 'status'>): boolean {
  return status === 'pending' || status === 'approved'
}

/** The rules for which the people who have approved so far are not enough. */
export function unmetRules({ rules, decisions }: Pick<Approval, 'rules' | 'decisions'>): ApprovalRule[] {
  return rules.filter(({ id, by }) => {
    const answers = decisions.filter((one) => one.rules.includes(id))
    const approvers = new Set(answers.map(({ approver }) => personOf(approver)))
    return approvers.size < (typeof by === 'object' ? by.count : 1)
  })
}

/**
 * One more answer. A denial ends the question, as does the last approval that the rules ask for, which counts until some time
 * after it, or after the time of a scheduled run.
 */
export function decided(
  approval: Approval,
  decision: Decision,
  { runAt = 0 }: { readonly runAt?: EpochSeconds | undefined } = {},
): Approval {
  const decisions = [...approval.decisions, decision]
  const { at } = decision
  if (decision.decision === 'deny') return { ...approval, decisions, status: 'denied', endedAt: at }
  if (unmetRules({ ...approval, decisions }).length > 0) return { ...approval, decisions }
  const useWithin = Math.min(...approval.rules.map(({ useWithinSeconds }) => useWithinSeconds))
  const ends = decisions.flatMap(({ until }) => (until === undefined ? [] : [until]))
  const useUntil = Math.min(Math.max(at, runAt) + useWithin, ...ends)
  return { ...approval, decisions, status: 'approved', useUntil }
}

/** The groups of approvers that the rules ask. */
export function groupsOf({ rules }: Pick<Approval, 'rules'>): readonly string[] {
  return [...new Set(rules.flatMap(({ by }) => (typeof by === 'object' ? [by.group] : [])))]
}

/** Whether the question is put to one of the groups; without groups, every question counts. */
export function concerns(approval: Pick<Approval, 'rules'>, groups: readonly string[] | undefined): boolean {
  return groups === undefined || groupsOf(approval).some((group) => groups.includes(group))
}

/** Equal for spellings of one name that people do not tell apart, so that one person does not count as two. */
export function personOf(name: string): string {
  const seen = name.replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Z}]+/gu, '')
  // a name of symbols alone has no skeleton
  return skeletonOf(seen) || seen.normalize('NFKC').toLowerCase()
}

const LENGTHS = ['once', 'hour', 'standing'] as const

/** How long the approval is remembered: as long as every approver chose. */
export function rememberedAs(decisions: readonly Decision[]): Remember {
  const shortest = Math.min(...decisions.map(({ remember }) => LENGTHS.indexOf(remember)))
  return LENGTHS[shortest] ?? 'once'
}
