import type { Broker } from '../broker.ts'
import type { Connection } from '../domain/connection.ts'
import { UnsealError } from '../store/seal.ts'
import { findProviderByUid, providerIdentity, registeredClient } from './find-provider.ts'
import { openAccess } from './get-access-token.ts'
import { openRefreshToken } from './refresh-connection.ts'

export type Revocation = 'revoked' | 'unsupported' | 'failed'

/**
 * Deletes the connection here, first and in every case, then revokes its tokens at the provider (RFC 7009). Tokens
 * are not sent where the entry did not point when the user approved.
 */
export async function revokeConnection(broker: Broker, connection: Connection): Promise<Revocation> {
  const { oauth, store } = broker
  const gone = await store.connections.delete(connection.id)
  if (gone === undefined) return 'failed'
  const entry = await findProviderByUid(broker, gone.projectId, gone.providerUid)
  if (entry?.provider.revocationRequest === undefined) return 'unsupported'
  if (gone.providerIdentity !== providerIdentity(broker, entry) || broker.clientFor(entry) === undefined)
    return 'failed'
  try {
    const registered = registeredClient(broker, entry)
    const { accessToken } = openAccess(broker, gone)
    const refreshed =
      gone.refresh === undefined
        ? undefined
        : await oauth.revoke(registered, openRefreshToken(broker, gone), 'refresh_token')
    const accessed = await oauth.revoke(registered, accessToken, 'access_token')
    return refreshed ?? accessed
  } catch (error) {
    if (error instanceof UnsealError) return 'failed'
    throw error
  }
}
