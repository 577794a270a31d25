import type { EpochSeconds } from '../../domain/clock.ts'
import { BrokerError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { withoutUndefined } from '../../sdk/without-undefined.ts'
import type { CallToApprove, GivenApproval, WaitingApproval } from '../../services/call-approvals.ts'
import { currentContext } from '../../services/request-context.ts'
import type { Store } from '../../store/store.ts'
import { auditOf, usedSubject } from './approval-audit.ts'
import type { ApprovalParts } from './approval-parts.ts'
import { approvalView } from './approval-view.ts'
import { hasClientAccess } from './client-access.ts'
import { callDigest, checkShowable, coverDigest } from './digest.ts'
import type { Approval } from './domain.ts'
import { sealCall, shownCall } from './shown-call.ts'
import { supersede } from './supersede.ts'

/** Open questions of one agent for one user. People who are asked more often stop reading. */
const MAX_PENDING = 5
/** Open questions of all agents for one user: another key or a newly registered client asks no more than that. */
const MAX_PENDING_OF_USER = 10
const DENIED_SECONDS = 600
/** After so many denials of a tool within an hour, the agent may not ask about it. */
const MOST_DENIALS = 3
/** After so many denials of a tool to any agents of the user within an hour, none of them may ask about it. */
const MOST_DENIALS_OF_USER = 6
/** Open questions of an agent about one tool, for all users, where a group is asked: an agent may name any users. */
const MAX_PENDING_OF_GROUP = 50
/** After so many denials of a tool to an agent within an hour, for any users, it may not ask a group about it. */
const MOST_DENIALS_OF_GROUP = 30
const DENIED_OFTEN_SECONDS = 3600
const RETRY_AFTER_SECONDS = 60

/** Finds the approval that covers the call, or puts the question (`CallApprovals.ask`). */
export async function askApproval(
  parts: ApprovalParts,
  call: CallToApprove,
): Promise<GivenApproval | WaitingApproval> {
  const { store, sealer, audit, now, usersUrl } = parts
  const { projectId, userId, subject, use, needed } = call
  checkShowable(call.input)
  if (userId === undefined && needed.rules.some(({ by }) => typeof by === 'string'))
    throw denied('A user must approve this call, and it names none: say which in user_id.')
  const agent = agentOf()
  const at = await store.approvals.clock(projectId, now())
  const standing = await coveringOf(parts, call, agent, at)
  if (standing !== undefined) return standing

  const digest = callDigest(call, agent)
  const interrupted = await interruptedOf(parts, call, digest)
  if (interrupted !== undefined) return confirmed(parts, call, interrupted)
  const row = { id: newId('appr'), projectId }
  const asked: Approval = {
    ...row,
    userId,
    agent,
    use,
    subject,
    digest,
    status: 'pending',
    rules: needed.rules,
    decisions: [],
    call: sealCall(sealer, 'approvals', row, {
      ...shownCall(call, agentName()),
      clientHasAccess: await hasClientAccess(parts, { projectId, userId, agent }),
    }),
    expiresAt: at + Math.min(...needed.rules.map(({ expiresSeconds }) => expiresSeconds)),
    createdAt: at,
  }
  const begun = await store.approvals.begin(
    asked,
    {
      pending: MAX_PENDING,
      pendingOfUser: MAX_PENDING_OF_USER,
      deniedAfter: at - DENIED_SECONDS,
      denials: MOST_DENIALS,
      denialsOfUser: MOST_DENIALS_OF_USER,
      pendingOfGroup: MAX_PENDING_OF_GROUP,
      denialsOfGroup: MOST_DENIALS_OF_GROUP,
      deniedOftenAfter: at - DENIED_OFTEN_SECONDS,
    },
    audit.of(projectId, auditOf('approval.requested', asked)),
  )
  switch (begun.outcome) {
    case 'open':
      // the row is signed except for the key by which it was found
      if (begun.approval.digest !== digest || begun.approval.projectId !== projectId) throw alteredQuestion()
      if (begun.approval.status === 'approved') return confirmed(parts, call, begun.approval)
      await needed.outside?.request(begun.approval)
      return { outcome: 'waiting', approval: approvalView(usersUrl, begun.approval) }
    case 'denied':
      throw denied(denialOf(begun.approval))
    case 'denied often':
      throw denied(
        `Calls of "${call.title}" were denied ${MOST_DENIALS} times within an hour, ${MOST_DENIALS_OF_USER} times to all agents of the user, or ${MOST_DENIALS_OF_GROUP} times by a group of approvers, so nobody is asked again for now. Do something else.`,
      )
    case 'too many pending':
      throw new BrokerError(
        'too_many_pending',
        `${MAX_PENDING} calls of this agent, or ${MAX_PENDING_OF_USER} of all agents, wait for this user's approval already, or ${MAX_PENDING_OF_GROUP} of this agent for that of a group. Wait until they are decided.`,
        { retryAfter: RETRY_AFTER_SECONDS },
      )
    case 'altered':
      throw alteredQuestion()
  }
}

function alteredQuestion(): BrokerError {
  return new BrokerError(
    'policy_check_failed',
    'The stored question about this call was altered in the database, so it does not count. Try again when it has expired.',
  )
}

/** Who makes the call. Until there are named agents, an API key or an MCP client is one. */
export function agentOf(): string {
  const { apiKey, actor } = currentContext()
  if (apiKey !== undefined) return apiKey.id
  return actor.client === undefined ? `${actor.kind}:${actor.id ?? ''}` : `client:${actor.client}`
}

function agentName(): string {
  const { apiKey, actor } = currentContext()
  return apiKey?.name ?? actor.client ?? actor.kind
}

/** The remembered approval that covers the call. Throws `denied_by_policy` if the user has blocked the agent. */
async function coveringOf(
  { store, audit, now }: ApprovalParts,
  call: CallToApprove,
  agent: string,
  at: EpochSeconds,
): Promise<GivenApproval | undefined> {
  const { projectId, userId, subject, needed } = call
  await refuseBlocked(store, { projectId, userId, agent }, at)
  const all = await store.standingApprovals.covering({ projectId, userId, agent, subject }, at)
  const found = all.find(({ fixed, digest }) => digest === coverDigest(call, agent, fixed))
  if (found === undefined) return undefined
  const { id } = found
  return {
    outcome: 'approved',
    id,
    spend: (executionId) =>
      store.standingApprovals.use(
        found,
        needed.versions,
        now(),
        audit.of(projectId, {
          action: 'approval.used',
          subject: id,
          ...withoutUndefined({ userId }),
          ...usedSubject(call),
          approval: {
            digest: found.digest,
            rules: needed.rules.map((rule) => rule.id),
            execution: executionId,
          },
        }),
      ),
  }
}

/** Throws `denied_by_policy` if the user has blocked the agent. */
export async function refuseBlocked(
  store: Store,
  { agent, ...of }: Pick<Approval, 'projectId' | 'userId' | 'agent'>,
  at: EpochSeconds,
): Promise<void> {
  for (const block of await store.standingApprovals.blocks(of, at)) {
    const { projectId } = of
    // the key that a blocked one has replaced counts for a while too
    const isBlocked =
      (await isSuccessor(store, projectId, block.agent, agent)) ||
      (await isSuccessor(store, projectId, agent, block.agent))
    if (isBlocked) throw denied('The user has blocked this agent: nobody is asked about its calls.')
  }
}

/** A key has few predecessors. */
const MAX_ROTATIONS = 100

/** Whether the agent is the one of that id, or the key that has replaced it, as often as it was rotated. */
async function isSuccessor(
  { apiKeys }: Pick<Store, 'apiKeys'>,
  projectId: string,
  id: string,
  agent: string,
): Promise<boolean> {
  let current: string | undefined = id
  for (let steps = 0; current !== undefined && steps < MAX_ROTATIONS; steps++) {
    if (current === agent) return true
    if (!current.startsWith('key_') || !agent.startsWith('key_')) return false
    current = (await apiKeys.find(projectId, current))?.replacedBy
  }
  return false
}

/** The approval that a process had begun to use for this call before it was killed, if the call may run again. */
async function interruptedOf(
  { store, liveness, now }: ApprovalParts,
  { projectId, isRepeatable = false }: CallToApprove,
  digest: string,
): Promise<Approval | undefined> {
  if (!isRepeatable) return undefined
  const found = await store.approvals.interrupted(projectId, digest, now())
  if (found?.usedBy === undefined || found.digest !== digest) return undefined
  return (await liveness.isAlive(found.usedBy)) ? undefined : found
}

/** The approval, if what is decided outside of Gatepass is still so. */
export async function confirmed(
  parts: ApprovalParts,
  call: CallToApprove,
  approval: Approval,
): Promise<GivenApproval> {
  await call.needed.outside?.confirm(approval.id, () => supersede(parts, approval))
  return given(parts, call, approval)
}

function given(
  { store, audit, now }: ApprovalParts,
  { needed, projectId }: CallToApprove,
  approval: Approval,
): GivenApproval {
  const { id, executionId: begun } = approval
  return {
    outcome: 'approved',
    id,
    executionId: begun,
    spend: (executionId, processId) =>
      store.approvals.spend(
        approval,
        { ...approval, status: 'used', executionId, usedBy: processId, endedAt: now() },
        needed.versions,
        now(),
        audit.of(projectId, auditOf('approval.used', approval, { execution: executionId })),
      ),
    async ended(processId) {
      const current = await store.approvals.find(projectId, id)
      if (current?.usedBy === processId)
        await store.approvals.ended(current, { ...current, usedBy: undefined })
    },
  }
}

function denialOf({ decisions }: Approval): string {
  const denial = decisions.find(({ decision }) => decision === 'deny')
  return [`${denial?.approver ?? 'Somebody'} denied this call.`, denial?.reason].filter(Boolean).join(' ')
}

function denied(message: string): BrokerError {
  return new BrokerError('denied_by_policy', message)
}
