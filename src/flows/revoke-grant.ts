import type { Broker } from '../broker.ts'
import { type Authorization, currentStep, type Exchanging } from '../domain/authorization.ts'
import type { Grant } from '../providers/grant.ts'
import { tenantIn } from '../providers/kept-values.ts'
import type { RegisteredClient } from '../providers/provider-entry.ts'
import { mayBeAccount } from './connection-of-grant.ts'
import { mayBeOnePerson } from './tenant-account.ts'

/**
 * Revokes a grant after the store failed. Does nothing unless the authorization is still at the step that exchanged the
 * code, because otherwise the grant may have been stored.
 */
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
 * Revokes the grant, unless the user has a connection to the same account, or may have one because the provider does
 * not name the account. Many servers revoke all grants of an account with one, so revoking this grant would end the
 * connection.
 */
export async function revokeUnlessConnected(
  { store, oauth }: Broker,
  claimed: Authorization,
  registered: RegisteredClient,
  grant: Grant,
): Promise<void> {
  const { projectId, userId } = claimed
  const { providerUid } = currentStep(claimed)
  const known = await store.connections.ofOwner({ projectId, providerUid, userId }).catch(() => undefined)
  const tenant = tenantIn(grant.kept)
  const hasTenants = registered.provider.choicesRequest !== undefined
  const isConnected =
    known?.some(
      ({ id, account }) =>
        [grant.account.id, '', id].includes(account.id) || // an unnamed additional account has its connection's id
        mayBeAccount(account.id, grant.account.id) ||
        (hasTenants && mayBeOnePerson(grant.account.id, tenant, account.id)),
    ) ?? true // the connections could not be read
  if (!isConnected) await oauth.revoke(registered, grant)
}
