import { withoutUndefined } from '../../sdk/without-undefined.ts'
import type { CallToApprove } from '../../services/call-approvals.ts'
import type { Approval } from './domain.ts'

/** An entry of the trail about the approval, never with its arguments. */
export function auditOf(
  action: `approval.${'requested' | 'approved' | 'denied' | 'expired' | 'used' | 'superseded'}`,
  { id, userId, use, subject, digest, rules }: Approval,
  more: { readonly approver?: string; readonly proof?: string; readonly execution?: string } = {},
) {
  return {
    action,
    subject: id,
    ...withoutUndefined({ userId }),
    ...usedSubject({ use, subject }),
    approval: { digest, rules: rules.map((rule) => rule.id), ...more },
  }
}

export function usedSubject({ use, subject }: Pick<CallToApprove, 'use' | 'subject'>) {
  return use === 'tool' ? { tool: subject } : { providerId: subject }
}
