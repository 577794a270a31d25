import type { ApprovalFailure, ApprovalView } from '../../services/call-approvals.ts'
import type { Approval } from './domain.ts'

/** The path of the page on which users decide. */
export const APPROVE_PATH = '/approve'

const FAILURES: Readonly<
  Partial<Record<Approval['status'], { readonly reason: ApprovalFailure; readonly message: string }>>
> = {
  denied: { reason: 'approval_denied', message: 'The call was denied.' },
  expired: {
    reason: 'approval_expired',
    message: 'Nobody decided in time, or the approval was not used in time.',
  },
  cancelled: { reason: 'approval_superseded', message: 'The question was withdrawn.' },
  superseded: {
    reason: 'approval_superseded',
    message: 'What was to be approved has changed since. Make the call again.',
  },
}

/** The approval, as callers see it: an approval that was given, used or not, is `completed`. */
export function approvalView(usersUrl: (projectId: string) => URL, approval: Approval): ApprovalView {
  const { id, projectId, userId = '', subject, status, expiresAt } = approval
  const failure = failureOf(approval)
  return {
    id,
    projectId,
    userId,
    subject,
    status: status === 'pending' ? 'pending' : failure === undefined ? 'completed' : 'failed',
    url: new URL(`${APPROVE_PATH}/${id}`, usersUrl(projectId)).href,
    expiresAt,
    ...failure,
  }
}

/** Why an approval was not given, or no longer counts, with the sentence of who denied it. */
export function failureOf({
  status,
  decisions,
}: Pick<Approval, 'status' | 'decisions'>):
  | { readonly reason: ApprovalFailure; readonly message: string }
  | undefined {
  const failure = FAILURES[status]
  const denial = decisions.find(({ decision }) => decision === 'deny')
  const why = denial?.reason === undefined ? '' : ` ${denial.reason}`
  return failure && { ...failure, message: `${failure.message}${why}` }
}
