import type { Broker } from '../broker.ts'
import { currentStep, type Exchanging } from '../domain/authorization.ts'
import type { Grant } from '../providers/grant.ts'
import type { RegisteredClient } from '../providers/provider-entry.ts'
import { mayBeAccount } from './connection-of-grant.ts'

/** Revokes a grant, if the authorization shows that it was not stored. */
export async function revokeUnstored(
  broker: Broker,
  claimed: Exchanging,
  registered: RegisteredClient,
  grant: Grant,
): Promise<void> {
  const current = await broker.store.authorizations.find(claimed.id).catch(() => undefined)
  if (current?.status !== 'exchanging' || current.step !== claimed.step) return
  await revokeUnlessConnected(broker, claimed, registered, grant)
}

/**
 * Revokes the grant, unless its account is connected, or may be because the provider names no account: many servers revoke
 * all grants of an account with one of them.
 */
export async function revokeUnlessConnected(
  { store, oauth }: Broker,
  claimed: Exchanging,
  registered: RegisteredClient,
  grant: Grant,
): Promise<void> {
  const { projectId, userId } = claimed
  const { providerUid } = currentStep(claimed)
  const known = await store.connections.ofOwner({ projectId, providerUid, userId }).catch(() => undefined)
  const isConnected =
    known?.some(
      ({ id, account }) =>
        [grant.account.id, '', id].includes(account.id) || // an additional account without a name has the connection's id
        mayBeAccount(account.id, grant.account.id),
    ) ?? true
  if (!isConnected) await oauth.revoke(registered, grant)
}
