import type { Broker } from '../../broker.ts'
import type { Connection } from '../../domain/connection.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { RefreshOutcome } from '../../services/refresh-table.ts'
import { UnsealError } from '../../store/seal.ts'
import { markProviderChanged } from '../get-access-token.ts'
import { findProviderByUid, providerIdentity, requireActive } from '../get-provider.ts'
import { refreshConnection } from '../refresh/refresh-connection.ts'
import { openAccess } from '../seal-grant.ts'

/**
 * Refreshes a connection although its token should still be valid. Releases no token. Throws like `refreshConnection`, and
 * `provider_inactive`. As for a fetch, no token is sent to an entry that has another identity than at the consent.
 */
export async function refreshNow(broker: Broker, connection: Connection): Promise<RefreshOutcome> {
  const found = await findProviderByUid(broker, connection.projectId, connection.providerUid)
  if (found === undefined) throw new BrokerError('not_found', 'The provider of this connection was removed.')
  const entry = requireActive(found)
  if (connection.providerIdentity !== providerIdentity(broker, entry)) {
    await markProviderChanged(broker, entry, connection)
    return { outcome: 'authorization_required' }
  }
  if (connection.refresh === undefined)
    throw new BrokerError(
      'invalid_request',
      'The provider gave no refresh token for this connection, so only a new consent renews it.',
    )
  return refreshConnection(broker, entry, connection, rejecting(broker, connection))
}

function rejecting(broker: Broker, connection: Connection): { readonly rejected?: string } {
  try {
    return { rejected: openAccess(broker, connection).accessToken }
  } catch (error) {
    if (error instanceof UnsealError) return {}
    throw error
  }
}
