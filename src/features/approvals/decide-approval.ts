import type { Broker } from '../../broker.ts'
import { type ApprovalRule, REMEMBER, type Remember } from '../../domain/approval.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { AuditEntries } from '../../store/audit-entries.ts'
import { auditOf } from './approval-audit.ts'
import { coverDigestOf, fixedArguments } from './digest.ts'
import {
  type Approval,
  type Decision,
  decided,
  type Proof,
  personOf,
  rememberedAs,
  type StandingApproval,
} from './domain.ts'
import { getApproval } from './get-approval.ts'
import { openCall, type ShownCall, sealCall } from './shown-call.ts'
import { supersede } from './supersede.ts'

/** The person who decides, and how that is known. */
export interface Approver {
  /** The user's id, or the approver's subject at the issuer, or the name that an API key gives. */
  readonly id: string
  readonly proof: Proof
  /** Set for the user's own answer. */
  readonly userId?: string
  /** The groups for which the person decides; `undefined`: for every group. */
  readonly groups?: readonly string[] | undefined
  /** The ids that the person may have as a user. */
  readonly userIds?: readonly string[] | undefined
}

export interface GivenDecision {
  readonly decision: 'approve' | 'deny'
  /** What was shown: a decision about anything else does not count. */
  readonly digest: string
  readonly remember?: Remember
  /** The names of arguments that stay the same while the approval is remembered. */
  readonly fixed?: readonly string[]
  /** For the model; at most 200 characters. */
  readonly reason?: string | undefined
  /** Also refuse all further calls of the agent for this user. */
  readonly blocks?: boolean
}

type Parts = Pick<Broker, 'store' | 'sealer' | 'audit' | 'now'>

/** Before the subject of an operator who makes a call in the console (`agentOf`). */
const OPERATOR = 'operator:'
const MAX_REASON = 200
const HOUR = 3600
const STANDING_SECONDS = 90 * 86_400
const FOREVER_SECONDS = 10 * 365 * 86_400

/**
 * Records the answer of a person. Repeating an answer returns it. Throws `not_found`, `digest_mismatch`, `already_decided`,
 * and `user_not_allowed` for a person whom no rule asks.
 */
export async function decideApproval(
  broker: Parts,
  { projectId, id }: { readonly projectId: string; readonly id: string },
  approver: Approver,
  given: GivenDecision,
  isCurrent: (approval: Approval) => Promise<boolean>,
): Promise<Approval> {
  const approval = await getApproval(broker, projectId, id)
  if (given.digest !== approval.digest)
    throw new BrokerError(
      'digest_mismatch',
      'This decides about another call than the one that waits. Read the approval again, and send the digest of what you have read.',
    )
  const rules = rulesFor(approval, approver)
  // an answer in a client does not count for all rules that ask its user
  const before = approval.decisions.find(
    (one) =>
      personOf(one.approver) === personOf(approver.id) && rules.every(({ id }) => one.rules.includes(id)),
  )
  if (before !== undefined) {
    if (before.decision === given.decision) return approval
    throw alreadyDecided(approval)
  }
  if (approval.status !== 'pending') throw alreadyDecided(approval)
  if (rules.length === 0) throw notAsked()
  if (await isOwnCall(broker, approval, approver)) throw notAsked()
  if (!(await isCurrent(approval))) throw alreadyDecided(await supersede(broker, approval))

  const decision: Decision = {
    decision: given.decision,
    approver: approver.id,
    proof: approver.proof,
    rules: rules.map((rule) => rule.id),
    ...checkedRemember(broker, approval, rules, given),
    ...(given.decision === 'deny' && given.reason !== undefined && { reason: cleaned(given.reason) }),
    at: await broker.store.approvals.clock(projectId, broker.now()),
  }
  const to = decided(approval, decision, { runAt: openCall(broker.sealer, 'approvals', approval)?.runAt })
  const isBlock = given.decision === 'deny' && given.blocks === true
  const remembered = isBlock ? blockOf(broker, approval, decision.at) : standingOf(broker, to)
  const audit = auditOfDecision(broker, approval, decision, remembered)
  const changed = await broker.store.approvals.change(approval, to, broker.now(), audit, remembered)
  if (changed === undefined) return decideApproval(broker, { projectId, id }, approver, given, isCurrent)
  if (isBlock) await withdrawQuestions(broker, approval)
  return changed
}

function auditOfDecision(
  { audit }: Pick<Broker, 'audit'>,
  approval: Approval,
  { decision, approver, proof }: Decision,
  remembered: StandingApproval | undefined,
): AuditEntries {
  const { projectId, userId } = approval
  const action = decision === 'deny' ? 'approval.denied' : 'approval.approved'
  const entry = audit.of(projectId, auditOf(action, approval, { approver, proof }))
  if (remembered === undefined) return entry
  const added = audit.of(projectId, {
    action: 'standing_approval.added',
    subject: remembered.id,
    userId,
    ...(remembered.kind === 'block' && { reason: 'block' }),
  })
  return { ...entry, lines: [...entry.lines, ...added.lines] }
}

/** Ends the other open questions of an agent that its user has blocked. */
async function withdrawQuestions(broker: Parts, { projectId, userId, agent }: Approval): Promise<void> {
  for (const status of ['pending', 'approved'] as const)
    await withdraw(broker, { projectId, userId, status }, (one) => one.agent === agent)
}

/** Ends what was approved together with a remembered approval: else it would count once more. */
async function withdrawGiven(broker: Parts, { fixed, digest, ...of }: StandingApproval): Promise<void> {
  const isGivenWith = (one: Approval) => {
    if (one.agent !== of.agent || rememberedAs(one.decisions) === 'once') return false
    const call = openCall(broker.sealer, 'approvals', one)
    return call !== undefined && coverDigestOf(one, call, fixed) === digest
  }
  await withdraw(broker, { ...of, status: 'approved' }, isGivenWith)
}

async function withdraw(
  { store, audit, now }: Parts,
  { projectId, userId, status }: Pick<Approval, 'projectId' | 'userId' | 'status'>,
  isMeant: (approval: Approval) => boolean,
): Promise<void> {
  const { items } = await store.approvals.page(projectId, { status, userId }, { offset: 0, limit: 100 })
  for (const one of items.filter((other) => other.userId === userId && isMeant(other))) {
    const to: Approval = { ...one, status: 'cancelled', endedAt: now() }
    const entry = audit.of(projectId, auditOf('approval.superseded', one))
    await store.approvals.change(one, to, now(), entry)
  }
}

/**
 * Whether a member of a group would decide about a call of their own: one that is made for them, that they make in the
 * console, or that a key makes which they created. An API key's holder says only a name for the person, so that is compared.
 */
export async function isOwnCall(
  { store }: Pick<Broker, 'store'>,
  { projectId, userId = '', agent }: Approval,
  { id, userId: own, userIds = [] }: Approver,
): Promise<boolean> {
  if (own !== undefined) return false // their own answer, which a rule asks for
  if ([id, ...userIds].some((one) => personOf(one) === personOf(userId))) return true
  const key = agent.startsWith('key_') ? await store.apiKeys.find(projectId, agent) : undefined
  const maker = agent.startsWith(OPERATOR) ? agent.slice(OPERATOR.length) : key?.createdBy
  return maker !== undefined && personOf(maker) === personOf(id)
}

/** The rules that ask this person. */
function rulesFor({ rules, userId }: Approval, { proof, userId: own, groups }: Approver): ApprovalRule[] {
  return rules.filter(({ by }) => {
    if (typeof by === 'object')
      return own === undefined && (groups === undefined || groups.includes(by.group))
    if (own === undefined || own !== userId || by === 'decision_point') return false
    return by === 'user_in_client' || proof !== 'client'
  })
}

function notAsked(): BrokerError {
  return new BrokerError(
    'user_not_allowed',
    'This call waits for the decision of somebody else: of its user, or of a group of approvers.',
  )
}

/** What the approver chose, if every rule permits it. */
function checkedRemember(
  { sealer }: Parts,
  approval: Approval,
  rules: readonly ApprovalRule[],
  { decision, remember = 'once', fixed = [] }: GivenDecision,
): Pick<Decision, 'remember' | 'fixed'> {
  if (decision === 'deny' || remember === 'once') return { remember: 'once', fixed: [] }
  const call = openCall(sealer, 'approvals', approval)
  const choices = permitted(rules, call)
  if (!choices.includes(remember))
    throw invalidMember(
      'remember',
      'not_allowed',
      `remember: this call can be approved for ${choices.join(', ')}.`,
    )
  const unknown = fixed.find((name) => !Object.hasOwn(call?.input ?? {}, name))
  if (unknown !== undefined)
    throw invalidMember('fixed', 'unknown', `fixed: the call has no argument "${unknown.slice(0, 100)}".`)
  if (fixed.length === 0 && !(call?.hints ?? []).includes('read_only'))
    throw invalidMember(
      'fixed',
      'missing',
      'fixed: name at least one argument that stays the same, since this tool does not only read.',
    )
  return { remember, fixed: [...new Set(fixed)].sort() }
}

/**
 * What the approver may choose: what every rule permits. A call with values that the approver does not see is not
 * remembered, and one that may destroy something not for long.
 */
export function permitted(rules: readonly ApprovalRule[], call: ShownCall | undefined): Remember[] {
  const { hidden = [], hints = [], input = {} } = call ?? {}
  const isHidden = hidden.some((name) => Object.hasOwn(input, name))
  return REMEMBER.filter((one) => {
    if (one === 'once') return true
    if (isHidden || (one === 'standing' && hints.includes('destructive'))) return false
    return rules.every((rule) => rule.remember.includes(one))
  })
}

/** The approval that covers further calls, once all have approved and chose so. */
function standingOf({ sealer }: Parts, approval: Approval): StandingApproval | undefined {
  const { projectId, userId, agent, subject, decisions, status } = approval
  const remember = rememberedAs(decisions)
  const call = openCall(sealer, 'approvals', approval)
  if (status !== 'approved' || remember === 'once' || call === undefined) return undefined
  const fixed = [...new Set(decisions.flatMap((one) => one.fixed))].sort()
  const at = decisions.at(-1)?.at ?? 0
  const row = { id: newId('stap'), projectId }
  const kept = { ...call, input: fixedArguments(call, fixed) }
  return {
    ...row,
    userId,
    agent,
    kind: 'approval',
    subject,
    digest: coverDigestOf(approval, call, fixed),
    fixed,
    call: sealCall(sealer, 'standingApprovals', row, kept),
    createdAt: at,
    expiresAt: at + (remember === 'hour' ? HOUR : STANDING_SECONDS),
  }
}

/** Refuses all further questions of the agent for the user, until the user takes that back. */
function blockOf(
  { sealer }: Pick<Broker, 'sealer'>,
  { projectId, userId, agent }: Approval,
  at: EpochSeconds,
): StandingApproval {
  const row = { id: newId('stap'), projectId }
  const nothing = { title: '', agentName: agent, hosts: [], hints: [], input: {}, connections: [] }
  return {
    ...row,
    userId,
    agent,
    kind: 'block',
    subject: '',
    digest: '',
    fixed: [],
    call: sealCall(sealer, 'standingApprovals', row, nothing),
    createdAt: at,
    expiresAt: at + FOREVER_SECONDS,
  }
}

/** Takes back what was remembered. Throws `not_found`. */
export async function removeStanding(
  broker: Parts,
  {
    projectId,
    id,
    userId,
  }: { readonly projectId: string; readonly id: string; readonly userId?: string | undefined },
): Promise<void> {
  const { store, audit } = broker
  const found = await store.standingApprovals.find(projectId, id)
  const isTheirs = found !== undefined && (userId === undefined || found.userId === userId)
  const entry = audit.of(projectId, {
    action: 'standing_approval.removed',
    subject: id,
    userId: found?.userId,
  })
  if (!isTheirs || !(await store.standingApprovals.remove(projectId, id, entry)))
    throw new BrokerError('not_found', `There is no remembered approval "${id.slice(0, 80)}".`)
  if (found.kind === 'approval') await withdrawGiven(broker, found)
}

function alreadyDecided({ status }: Approval): BrokerError {
  return new BrokerError('already_decided', `This is decided already: the approval is ${status}.`)
}

/** A sentence for a model, without characters that draw nothing or change the order of text. */
function cleaned(reason: string): string {
  return reason
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]+/gu, ' ')
    .trim()
    .slice(0, MAX_REASON)
}
