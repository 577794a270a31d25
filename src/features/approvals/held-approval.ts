import { BrokerError } from '../../domain/errors.ts'
import type { ApprovalFailure, CallToApprove, GivenApproval } from '../../services/call-approvals.ts'
import type { ApprovalParts } from './approval-parts.ts'
import { failureOf } from './approval-view.ts'
import { agentOf, confirmed, refuseBlocked } from './ask-approval.ts'
import { callDigest } from './digest.ts'
import { approvalAt, isOpen } from './domain.ts'
import { supersede } from './supersede.ts'

/**
 * The approval of a run that was asked for when the run was scheduled. Throws `denied_by_policy` if it does not count, or no
 * longer: a run whose caller has gone puts no second question.
 */
export async function heldApproval(
  parts: ApprovalParts,
  call: CallToApprove,
  { approvalId, executionId }: NonNullable<CallToApprove['held']>,
): Promise<GivenApproval> {
  const { store, now } = parts
  const { projectId } = call
  const found = await store.approvals.find(projectId, approvalId)
  if (found === undefined) throw notApproved('approval_superseded')
  const at = await store.approvals.clock(projectId, now())
  const approval = approvalAt(found, at)
  // also the next attempt of a run that has spent its approval
  await refuseBlocked(store, approval, at)
  const isSame = approval.digest === callDigest(call, agentOf())
  // the run that has spent it goes on: the scheduler knows that the tool has not acted, or may act twice
  if (isSame && approval.status === 'used' && approval.executionId === executionId)
    return { ...(await confirmed(parts, call, approval)), spend: async () => true }
  if (isSame && approval.status === 'approved') return confirmed(parts, call, approval)
  if (isOpen(approval)) {
    await supersede(parts, approval)
    throw notApproved('approval_superseded')
  }
  const failure = failureOf(approval)
  throw notApproved(failure?.reason ?? 'approval_superseded', failure?.message)
}

function notApproved(
  reason: ApprovalFailure,
  message = 'What was to be approved has changed since.',
): BrokerError {
  return new BrokerError('denied_by_policy', `${message} (${reason})`)
}
