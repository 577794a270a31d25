import type { Broker } from '../broker.ts'
import { endpointsDigest, formerIdentitiesOf, identityOf } from '../providers/identity.ts'
import { hostOf } from '../providers/provider-endpoints.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { changeRow } from '../services/change-row.ts'

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
      const from = formerIdentitiesOf(entry.provider, clientId).filter((identity) => identity !== to)
      const changed = await store.connections.reidentify({ projectId, providerUid: entry.uid }, { from, to })
      kept += changed
      if (changed > 0 && named !== undefined && !named.allowed) await confirm(entry)
    }
  if (kept > 0) log.info({ connections: kept }, 'the provider identities of connections were updated')

  /** Confirms the environment's client of an entry that users approved before confirmations existed. */
  async function confirm(listed: ProviderEntry): Promise<void> {
    const { uid, id, projectId } = listed
    const environmentClientFor = endpointsDigest(listed.provider)
    const read = () => store.providers.findByUid(uid)
    const confirmed = await changeRow(`The provider "${id}"`, listed, read, async (entry) => {
      // an administrator may have given the entry other endpoints or a client of its own since it was listed
      if (entry === undefined || entry.clientId !== undefined) return false
      if (endpointsDigest(entry.provider) !== environmentClientFor) return false
      const to = { ...entry, provider: { ...entry.provider, environmentClientFor } }
      const entries = audit.of(projectId, {
        action: 'provider.environment_client_confirmed',
        providerId: id,
        reason: 'in_use_before',
      })
      return (await store.providers.change(entry, to, entries)) && true
    })
    if (!confirmed) return
    log.warn(
      { provider: id, host: hostOf(listed.provider) },
      'the client from the environment stays in use at endpoints that are not in the catalogue: check that they are right',
    )
  }
}
