import { BrokerError } from '../../domain/errors.ts'
import { mayActFor } from '../../services/request-context.ts'
import type { ApprovalParts } from './approval-parts.ts'
import { type Approval, approvalAt } from './domain.ts'

/** The project's approval in its state at this time. Throws `not_found`, also for a user for whom the request may not act. */
export async function getApproval(
  { store, now }: Pick<ApprovalParts, 'store' | 'now'>,
  projectId: string,
  id: string,
): Promise<Approval> {
  const found = await store.approvals.find(projectId, id)
  if (found === undefined || !mayActFor(found.userId)) throw noApproval(id)
  return approvalAt(found, await store.approvals.clock(projectId, now()))
}

export function noApproval(id: string): BrokerError {
  return new BrokerError('not_found', `There is no approval "${id.slice(0, 80)}" in this project.`)
}
