import type { Broker } from '../broker.ts'
import { endpointsDigest, formerIdentitiesOf, identityOf } from '../providers/identity.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'

/**
 * Runs at every start. Updates connections whose `providerIdentity` was computed by an earlier rule: those of version
 * 0.1.0, and those of providers to which the catalogue added endpoints later. It changes only connections of the same
 * client at exactly the endpoints (in 0.1.0: hosts) of their entry, so that no token is sent to a new endpoint.
 */
export async function settleIdentities({
  store,
  log,
  audit,
  environmentClient,
}: Pick<Broker, 'store' | 'log' | 'audit' | 'environmentClient'>): Promise<void> {
  let kept = 0
  for (const { id: projectId } of await store.projects.list())
    for (const entry of await store.providers.list(projectId)) {
      const named = entry.clientId === undefined ? environmentClient(entry) : undefined
      const clientId = entry.clientId ?? named?.client.clientId
      const to = identityOf(entry.provider, clientId)
      const from = formerIdentitiesOf(entry.provider, clientId).filter((one) => one !== to)
      const changed = await store.connections.reidentify({ projectId, providerUid: entry.uid }, { from, to })
      kept += changed
      if (changed > 0 && named !== undefined && !named.allowed) await confirm(entry)
    }
  if (kept > 0) log.info({ connections: kept }, 'the provider identities of connections were updated')

  /** Confirms the environment's client of an entry that users approved before confirmations existed. */
  async function confirm(entry: ProviderEntry): Promise<void> {
    const provider = { ...entry.provider, environmentClientFor: endpointsDigest(entry.provider) }
    await store.providers.put(
      { ...entry, provider },
      audit.of(entry.projectId, {
        action: 'provider.environment_client_confirmed',
        providerId: entry.id,
        reason: 'in_use_before',
      }),
    )
    log.warn(
      { provider: entry.id, tokenEndpoint: new URL(provider.tokenRequest.endpoint).host },
      'the client from the environment stays in use at endpoints that are not in the catalogue: check that they are right',
    )
  }
}
