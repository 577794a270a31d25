import type { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { changeProvider } from '../../flows/change-provider.ts'
import { sealClientSecret } from '../../flows/client-secret.ts'
import { missingSettings, similarDefinition, similarProvider } from '../../flows/get-provider.ts'
import { withDiscoveredMetadata } from '../../flows/issuer-metadata.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { changeRow } from '../../services/change-row.ts'
import type { ProviderWire, providerCreateSchema, providerPatchSchema } from './provider-schema.ts'
import { applyProviderPatch, parseProviderCreate, providerToWire } from './provider-wire.ts'

// What administrators do with provider entries in the API and in the console.

const wireOptions = (broker: Broker) => ({
  allowsHttp: (url: URL) => broker.outgoing.allows(url),
  definitions: broker.definitions,
})

export function entryToWire(broker: Broker, entry: ProviderEntry): ProviderWire {
  return providerToWire(
    entry,
    broker.redirectUri(entry),
    broker.clientFor(entry)?.clientSecret !== undefined,
    missingSettings(broker, entry),
  )
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

/** Adds an entry to the project. Throws `invalid_request`, `already_exists`. */
export async function addEntry(
  broker: Broker,
  projectId: string,
  body: z.output<typeof providerCreateSchema>,
): Promise<ProviderEntry> {
  const { store, now } = broker
  const { entry: parsed, clientSecret } = parseProviderCreate(body, wireOptions(broker))
  const entry = { ...parsed, provider: await withDiscoveredMetadata(broker, parsed.provider) }
  const uid = newId('prov')
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

/** Changes the entry; members that are left out do not change. Throws `not_found`, `invalid_request`. */
export async function changeEntry(
  broker: Broker,
  projectId: string,
  id: string,
  body: z.output<typeof providerPatchSchema>,
): Promise<ProviderEntry> {
  const read = () => getEntry(broker, projectId, id)
  return changeRow(`The provider "${id}"`, await read(), read, async (before) => {
    const patched = applyProviderPatch(before, body, wireOptions(broker))
    const entry: ProviderEntry = {
      ...patched.entry,
      // may take seconds, in which another request may change the entry: then `changeRow` repeats this
      provider: await withDiscoveredMetadata(broker, patched.entry.provider),
      // an entry that an administrator has changed is not changed by later imports; tokens of a server stay its own
      source: before.source === 'server' ? 'server' : 'admin',
      updatedAt: broker.now(),
      ...(patched.clientSecret !== undefined && {
        clientSecret: sealClientSecret(broker, patched.entry, patched.clientSecret),
      }),
    }
    return changeProvider(broker, before, entry, {
      keepConnections: body.keep_connections === true,
      confirmed: body.oauth2?.environment_client === true,
    })
  })
}

/**
 * Deletes the entry with its connections. Returns the deleted entry; `undefined` if its row was altered in the database
 * and could not be read. Throws `not_found`.
 */
export async function deleteEntry(
  broker: Broker,
  projectId: string,
  id: string,
): Promise<ProviderEntry | undefined> {
  const entry = await broker.store.providers.findById(projectId, id)
  const audit = broker.audit.of(projectId, { action: 'provider.deleted', providerId: id })
  if (!(await broker.store.providers.delete(projectId, id, audit))) await getEntry(broker, projectId, id)
  return entry
}
