import type { Broker } from '../broker.ts'
import { chooseConnection } from '../domain/connection.ts'
import type { ConnectionOwner, RequestedUse } from '../domain/requested-use.ts'
import type { SharedUse } from '../domain/shared-connection.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { ownerOf } from '../providers/provider-grant.ts'
import { cachedConnections } from './cached-connections.ts'
import { chooseShared, sharedConnections, sharedUse } from './shared-token.ts'

// Whose connection a use is about to take, for the gate, which judges before any token is looked up. The release of the
// token is judged again, by the connection that was really taken.

/** The connection that is asked for, as when its token is looked up. */
interface OwnerNeed {
  readonly projectId: string
  readonly userId?: string | undefined
  readonly entry: ProviderEntry
  readonly account?: string | undefined
}

/**
 * The use with the owners of the connections that it would take now. Where there is none yet, the user would be asked for
 * one, so it is the user's. `needs`: those of the use's providers, in the same order.
 */
export async function withOwners(
  broker: Broker,
  use: RequestedUse,
  needs: readonly Pick<OwnerNeed, 'entry' | 'account'>[],
  { account }: Pick<OwnerNeed, 'account'> = {},
): Promise<RequestedUse> {
  const { projectId, userId, tool, providers } = use
  if (userId === undefined || providers.every(({ owner }) => owner !== undefined)) return use
  const shared = sharedUse(userId, tool)
  const owned = providers.map(async (provider, at) => {
    const need = needs[at]
    if (need === undefined) return provider
    const owner = await ownerOfUse(broker, { account, projectId, userId, ...need }, shared)
    return owner === undefined ? provider : { ...provider, owner }
  })
  return { ...use, providers: await Promise.all(owned) }
}

/** `undefined`: no user is named, or without `use`, it depends on the caller whether a connection is shared with the use. */
export async function ownerOfUse(
  broker: Broker,
  { projectId, userId, entry, account }: OwnerNeed,
  use?: SharedUse,
): Promise<ConnectionOwner | undefined> {
  const owner = ownerOf(entry.provider)
  if (owner !== 'either') return owner
  if (userId === undefined) return undefined
  const held = await cachedConnections(broker, { projectId, userId, providerUid: entry.uid })
  const own = held.map(({ connection }) => connection)
  if (account === 'new' || chooseConnection(own, account) !== undefined) return 'user'
  const all = await sharedConnections(broker, projectId)
  if (use !== undefined) return chooseShared(all, { entry, account }, use).shared ? 'project' : 'user'
  return all.some(({ providerUid }) => providerUid === entry.uid) ? undefined : 'user'
}
