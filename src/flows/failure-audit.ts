import type { Broker } from '../broker.ts'
import type { Authorization, FailureReason } from '../domain/authorization.ts'
import type { AuditEntries } from '../store/store.ts'

/** What an authorization that fails leaves in the audit trail. */
export function failureAudit(
  broker: Broker,
  { id, projectId, userId }: Pick<Authorization, 'id' | 'projectId' | 'userId'>,
  reason: FailureReason,
): AuditEntries {
  return broker.audit.of(projectId, {
    action: 'authorization.failed',
    userId,
    authorizationId: id,
    reason,
  })
}
