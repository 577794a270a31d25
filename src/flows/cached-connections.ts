import type { Broker } from '../broker.ts'
import type { CachedConnection } from '../services/release.ts'
import type { ConnectionOwner } from '../store/changes.ts'

/** The cached connections of a user at a provider, the default one first. */
export function cachedConnections(
  broker: Broker,
  owner: ConnectionOwner,
): readonly CachedConnection[] | Promise<readonly CachedConnection[]> {
  return broker.cache.connections.get(ownerKey(owner), async () =>
    (await broker.store.connections.ofOwner(owner)).map((connection) => ({ connection })),
  )
}

/** The key under which the cache holds the connections of an owner. */
export function ownerKey({ projectId, providerUid, userId }: ConnectionOwner): string {
  return `${projectId} ${providerUid} ${userId}`
}
