import type { Broker } from '../broker.ts'
import type { Connection, NeedsAuthorizationReason } from '../domain/connection.ts'
import type { ProviderEntry } from '../providers/provider.ts'

/**
 * Marks the connection as needing a new consent, and records that in the audit trail. `false`: its tokens have changed,
 * it was marked before, or (with `leaseOwner`) another process holds the lease on refreshing it.
 */
export async function markUnusable(
  broker: Broker,
  entry: Pick<ProviderEntry, 'id'>,
  { id, generation, projectId, userId }: Connection,
  reason: NeedsAuthorizationReason,
  leaseOwner?: string,
): Promise<boolean> {
  const audit = broker.audit.of(projectId, {
    action: 'connection.needs_authorization',
    userId,
    providerId: entry.id,
    connectionId: id,
    reason,
  })
  return broker.store.connections.needsAuthorization(id, generation, reason, audit, leaseOwner)
}
