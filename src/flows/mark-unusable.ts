import type { Broker } from '../broker.ts'
import type { Connection, NeedsAuthorizationReason } from '../domain/connection.ts'
import { trailLines } from '../domain/trail.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import type { StillHeld } from '../store/connection-refreshes.ts'

/** Why a connection becomes unusable, and on which condition. `lines`: lines for its trail about what led to that. */
export interface Unusable extends StillHeld {
  readonly reason: NeedsAuthorizationReason
  readonly lines?: string | undefined
}

/**
 * Marks the connection as needing a new consent, and records that in the audit trail. `false`: its tokens have changed,
 * it was marked before, or it no longer has the given `leaseOwner` or `providerIdentity`.
 */
export async function markUnusable(
  broker: Broker,
  entry: Pick<ProviderEntry, 'id'>,
  { id, generation, projectId, userId }: Connection,
  { reason, lines = '', ...held }: Unusable,
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
  return connections.needsAuthorization(id, generation, reason, audit, held, lines + marked)
}
