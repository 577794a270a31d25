import type { Broker } from '../broker.ts'
import type { Connection } from '../domain/connection.ts'
import { BrokerError } from '../domain/errors.ts'
import { keptValuesOf, tenantIn } from '../providers/kept-values.ts'
import { isInstalled } from '../providers/provider-grant.ts'
import type { Revocation } from '../providers/revocation.ts'
import type { RequestGuard } from '../providers/token-request.ts'
import { currentContext } from '../services/request-context.ts'
import { UnsealError } from '../store/seal.ts'
import { findProviderByUid, providerIdentity, registeredClient } from './get-provider.ts'
import { forgetScopeSets } from './installation-token.ts'
import { openAccess, openRefreshToken } from './seal-grant.ts'
import { mayBeOnePerson } from './tenant-account.ts'

/**
 * Deletes the connection first and in every case, then revokes its tokens at the provider (RFC 7009). Tokens are not
 * sent to endpoints other than those at the time of the consent, nor after the user has consented again.
 */
export async function revokeConnection(broker: Broker, connection: Connection): Promise<Revocation> {
  const { store } = broker
  const known = await findProviderByUid(broker, connection.projectId, connection.providerUid)
  const audit = broker.audit.of(connection.projectId, {
    action: 'connection.deleted',
    userId: connection.userId,
    connectionId: connection.id,
    ...(known !== undefined && { providerId: known.id }),
  })
  const by = currentContext().actor.kind === 'user' ? 'user' : 'operator'
  const isAsked = known?.provider.revocationRequest !== undefined
  const ending = { by, revocation: isAsked ? 'pending' : 'unsupported' } as const
  // first, so that none of them can become the default in the place of the deleted connection
  if (known !== undefined && isInstalled(known.provider)) await forgetScopeSets(broker, connection)
  const gone = await store.connections.delete(connection.id, audit, ending)
  if (gone === undefined) return 'failed'
  const revocation = await revokeAtProvider(broker, gone)
  if (isAsked)
    await store.connections.revoked(gone, by, revocation).catch((error: unknown) => {
      // the connection is deleted anyway, and the caller gets the provider's answer
      broker.log.warn({ connection: gone.id, error }, 'the event of a revocation could not be written')
    })
  return revocation
}

async function revokeAtProvider(broker: Broker, gone: Connection): Promise<Revocation> {
  const { oauth } = broker
  const entry = await findProviderByUid(broker, gone.projectId, gone.providerUid)
  if (entry?.provider.revocationRequest === undefined) return 'unsupported'
  try {
    if (gone.providerIdentity !== providerIdentity(broker, entry)) return 'failed'
    const { accessToken, kept, dpopKey } = openAccess(broker, gone)
    if (entry.provider.choicesRequest !== undefined && (await isElsewhere(broker, gone, tenantIn(kept))))
      return 'unsupported'
    const refreshToken = openRefreshToken(broker, gone)
    const tokens = { accessToken, refreshToken, dpopKey }
    const registered = registeredClient(broker, entry, keptValuesOf(entry.provider, kept))
    return await oauth.revoke(registered, tokens, unlessApprovedAgain(broker, gone))
  } catch (error) {
    // the tokens cannot be decrypted, or the client is not set: the connection is deleted nevertheless
    if (error instanceof UnsealError || error instanceof BrokerError) return 'failed'
    throw error
  }
}

/** Whether the same person is connected at another tenant: a revocation would end that access too. */
async function isElsewhere(
  { store }: Broker,
  gone: Connection,
  tenant: string | undefined,
): Promise<boolean> {
  const others = await store.connections.ofOwner(gone)
  return others.some(({ account }) => mayBeOnePerson(gone.account.id, tenant, account.id))
}

/**
 * Many servers revoke all grants of an account when one of its tokens is revoked. So a process that was suspended after
 * the deletion must not revoke when the user has consented again in the meantime.
 */
function unlessApprovedAgain({ store }: Broker, gone: Connection): RequestGuard {
  return {
    async isStillWanted() {
      const others = await store.connections.ofOwner(gone)
      return !others.some(({ account }) => account.id === gone.account.id)
    },
  }
}
