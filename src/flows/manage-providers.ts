import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { changeRow } from '../services/change-row.ts'
import { changeProvider } from './change-provider.ts'
import { sealClientSecret } from './client-secret.ts'
import { checkSubject, refuseWhileExchanged } from './exchange-subject.ts'
import { similarDefinition, similarProvider } from './get-provider.ts'
import { heldAt, revokeAll } from './held-grant.ts'
import { withDiscoveredMetadata } from './issuer-metadata.ts'

// What administrators do with provider entries.

/** An entry whose client secret is not sealed yet; without one, a change keeps the secret of the entry. */
export interface DescribedEntry<Entry> {
  readonly entry: Entry
  readonly clientSecret?: string
}

/** A new entry has its place in the database only once it is added. */
export type NewEntry = Omit<ProviderEntry, 'uid' | 'projectId' | 'createdAt' | 'updatedAt' | 'clientSecret'>

export interface EntryChange {
  /** Connections stay usable although the change makes another provider of the entry. */
  readonly keepsConnections: boolean
  /** The administrator confirms that the entry uses the client of the environment. */
  readonly confirmsClient: boolean
}

/** Throws `not_found`, whose message has the nearest id. */
export async function getEntry({ store }: Broker, projectId: string, id: string): Promise<ProviderEntry> {
  const entry = await store.providers.findById(projectId, id)
  if (entry === undefined)
    throw new BrokerError(
      'not_found',
      `There is no provider "${id}" in this project.${similarProvider(id, await store.providers.list(projectId)) || similarDefinition(id)}`,
    )
  return entry
}

/** Adds an entry to the project. `uid`: a reserved one (reserve-provider.ts). Throws `invalid_request`, `already_exists`. */
export async function addEntry(
  broker: Broker,
  projectId: string,
  { entry: described, clientSecret }: DescribedEntry<NewEntry>,
  uid = newId('prov'),
): Promise<ProviderEntry> {
  const { store, now } = broker
  await checkSubject(broker, projectId, described)
  const entry = { ...described, provider: await withDiscoveredMetadata(broker, described.provider) }
  const added = await store.providers.add(
    {
      ...entry,
      uid,
      projectId,
      ...(clientSecret !== undefined && {
        clientSecret: sealClientSecret(broker, { uid, projectId }, clientSecret),
      }),
      createdAt: now(),
      updatedAt: now(),
    },
    broker.audit.of(projectId, { action: 'provider.added', providerId: entry.id }),
  )
  if (added === undefined)
    throw new BrokerError(
      'already_exists',
      `There is a provider "${entry.id}" already. Change it (PATCH, gatepass providers set), or choose another id.`,
    )
  return added
}

/**
 * Changes the entry to what `describe` makes of it. Throws `not_found`, `invalid_request`, and what `describe` throws,
 * which is called again after another request has changed the entry.
 */
export async function changeEntry(
  broker: Broker,
  projectId: string,
  id: string,
  describe: (before: ProviderEntry) => DescribedEntry<ProviderEntry>,
  { keepsConnections, confirmsClient }: EntryChange,
): Promise<ProviderEntry> {
  const read = () => getEntry(broker, projectId, id)
  return changeRow(`The provider "${id}"`, await read(), read, async (before) => {
    const { entry: described, clientSecret } = describe(before)
    await checkSubject(broker, projectId, described)
    const entry: ProviderEntry = {
      ...described,
      // may take seconds, in which another request may change the entry: then `changeRow` repeats this
      provider: await withDiscoveredMetadata(broker, described.provider),
      // an entry that an administrator has changed is not changed by later imports; tokens of a server stay its own
      source: before.source === 'server' ? 'server' : 'admin',
      updatedAt: broker.now(),
      ...(clientSecret !== undefined && { clientSecret: sealClientSecret(broker, described, clientSecret) }),
    }
    return changeProvider(broker, before, entry, {
      keepConnections: keepsConnections,
      confirmed: confirmsClient,
    })
  })
}

/**
 * Deletes the entry with its connections. Returns the deleted entry; `undefined` if its row was altered in the database
 * and could not be read. Throws `not_found`, and `invalid_request` while another entry exchanges its tokens.
 */
export async function deleteEntry(
  broker: Broker,
  projectId: string,
  id: string,
): Promise<ProviderEntry | undefined> {
  const entry = await broker.store.providers.findById(projectId, id)
  await refuseWhileExchanged(broker, projectId, id)
  // its client is needed for the revocations
  if (entry !== undefined) await revokeAll(broker, await heldAt(broker, { projectId, uid: entry.uid }))
  const audit = broker.audit.of(projectId, { action: 'provider.deleted', providerId: id })
  if (!(await broker.store.providers.delete(projectId, id, audit))) await getEntry(broker, projectId, id)
  return entry
}
