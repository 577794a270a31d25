import type { Broker } from '../../broker.ts'
import type { Connection } from '../../domain/connection.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { RefreshOutcome } from '../../services/refresh-table.ts'
import { providerIdentity, requireActive } from '../get-provider.ts'
import { markProviderChanged } from '../held-token.ts'
import { refreshConnection, rejecting } from '../refresh/refresh-connection.ts'

/**
 * Refreshes a connection although its token should still be valid. Releases no token. Throws like `refreshConnection`, and
 * `provider_inactive`. As for a fetch, no token is sent to an entry that has another identity than at the consent.
 */
export async function refreshNow(broker: Broker, connection: Connection): Promise<RefreshOutcome> {
  const { connections, providers } = broker.store
  const found = await providers.findByUid(connection.providerUid)
  if (found === undefined) throw new BrokerError('not_found', 'The provider of this connection was removed.')
  const entry = requireActive(found)
  if (connection.providerIdentity !== providerIdentity(broker, entry)) {
    const isMarked = await markProviderChanged(broker, entry, connection)
    const again = isMarked ? undefined : await connections.find(connection.id)
    return again?.status === 'active' ? refreshNow(broker, again) : { outcome: 'authorization_required' }
  }
  if (connection.refresh === undefined)
    throw new BrokerError(
      'invalid_request',
      'The provider gave no refresh token for this connection, so only a new consent renews it.',
    )
  return refreshConnection(broker, entry, connection, rejecting(broker, connection))
}
