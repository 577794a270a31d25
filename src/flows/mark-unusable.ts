import type { Broker } from '../broker.ts'
import type { Connection, NeedsAuthorizationReason } from '../domain/connection.ts'
import { trailLines } from '../domain/trail.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'

/** Why a connection becomes unusable. `lines`: lines for its trail about what led to that. */
export interface Unusable {
  readonly reason: NeedsAuthorizationReason
  readonly leaseOwner?: string | undefined
  readonly lines?: string | undefined
}

/**
 * Marks the connection as needing a new consent, and records that in the audit trail. `false`: its tokens have changed,
 * it was marked before, or (with `leaseOwner`) another process holds the lease on refreshing it.
 */
export async function markUnusable(
  broker: Broker,
  entry: Pick<ProviderEntry, 'id'>,
  { id, generation, projectId, userId }: Connection,
  { reason, leaseOwner, lines = '' }: Unusable,
): Promise<boolean> {
  const audit = broker.audit.of(projectId, {
    action: 'connection.needs_authorization',
    userId,
    providerId: entry.id,
    connectionId: id,
    reason,
  })
  const marked = trailLines({ at: broker.now(), step: 'needs_authorization', details: { reason } })
  const { connections } = broker.store
  return connections.needsAuthorization(id, generation, reason, audit, leaseOwner, lines + marked)
}
