import type { Broker } from '../../broker.ts'
import type { Worker } from '../../domain/worker.ts'
import { sealClientSecret } from '../../flows/client-secret.ts'
import {
  type ClientRegistration,
  clientMetadata,
  isSecretExpired,
  registerClient,
  usualAuthMethod,
} from '../../providers/client-registration.ts'
import { type ServerMetadata, secretAuthMethod } from '../../providers/discovery.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { changeRow } from '../../services/change-row.ts'
import { callbackPath } from '../../services/users-origin.ts'
import { authorizationFault } from './authorization-fault.ts'
import { clientMetadataUrl } from './client-metadata-url.ts'
import { withClientAuth } from './server-provider.ts'
import { mcpSecrets, mcpSettings } from './settings.ts'

// The broker's client at the authorization server of an MCP server.

/** Adds a client to the entry. If another request has changed the entry meanwhile, the entry is read again first. */
export async function withClient(
  broker: Broker,
  worker: Worker,
  entry: ProviderEntry,
  metadata: ServerMetadata,
): Promise<ProviderEntry> {
  const read = async () => {
    const current = await broker.store.providers.findByUid(entry.uid)
    if (current !== undefined) return current
    throw authorizationFault(`Its provider "${entry.id}" was deleted while a client was added to it.`, true)
  }
  return changeRow(`The provider "${entry.id}"`, entry, read, (current) =>
    addClient(broker, worker, current, metadata),
  )
}

/**
 * Adds a client to the entry: the operator's, or else its existing one if its secret has not expired, or else the URL
 * of the client metadata document if the server accepts those, or else a client that is registered now. Returns
 * `undefined` if another request has changed the stored entry.
 */
async function addClient(
  broker: Broker,
  worker: Worker,
  entry: ProviderEntry,
  metadata: ServerMetadata,
): Promise<ProviderEntry | undefined> {
  const clientId = mcpSettings(worker).oauth2?.clientId
  const { clientSecret } = mcpSecrets(broker, worker)
  if (clientId !== undefined) {
    const known = broker.clientFor(entry)
    if (known?.clientId === clientId && known.clientSecret === clientSecret) return entry
    return storeClient(broker, entry, {
      client: { clientId, ...(clientSecret !== undefined && { clientSecret }) },
      authMethod: clientSecret === undefined ? 'none' : secretAuthMethod(metadata),
    })
  }
  if (broker.clientFor(entry) !== undefined && !isSecretExpired(entry.provider, broker.now())) return entry
  const { publicUrl } = broker.settings
  if (metadata.client_id_metadata_document_supported === true && publicUrl.protocol === 'https:')
    return storeClient(broker, entry, {
      client: { clientId: clientMetadataUrl(broker, entry) },
      authMethod: 'none',
    })
  const redirectUri = broker.redirectUri(entry)
  if (metadata.registration_endpoint !== undefined)
    return storeChange(broker, entry, await withNewClient(broker, entry, metadata))
  throw authorizationFault(
    `The server wants OAuth at ${metadata.issuer}, which lets no client register itself. Register one there with the redirect URI ${redirectUri}, then PATCH /v1/workers/${worker.id} {"mcp": {"oauth2": {"client_id": …, "client_secret": …}}}.`,
  )
}

/** Registers a client. Returns the entry with the client, not yet stored. */
export async function withNewClient(
  broker: Broker,
  entry: ProviderEntry,
  metadata: ServerMetadata,
): Promise<ProviderEntry> {
  const { publicUrl } = broker.settings
  const registration = await registerClient(
    broker.outgoing,
    metadata.registration_endpoint ?? '',
    clientMetadata({
      publicUrl,
      redirectUris: await registrableRedirectUris(broker, entry),
      authMethod: usualAuthMethod(metadata),
      scopes: entry.provider.defaultScopes,
    }),
  )
  return withClientOf(broker, entry, registration)
}

/**
 * The redirect URIs with which Gatepass registers a client (RFC 7591): that of the public URL, and that of the site which the
 * project has chosen, even before its users see it, so that the client works at both.
 */
async function registrableRedirectUris(
  { settings, sites }: Broker,
  { uid, projectId }: Pick<ProviderEntry, 'uid' | 'projectId'>,
): Promise<readonly [string, ...string[]]> {
  const site = await sites.chosenBy(projectId)
  const uri = (url: URL) => new URL(callbackPath(uid), url).href
  return site === undefined ? [uri(settings.publicUrl)] : [uri(settings.publicUrl), uri(site)]
}

function storeClient(
  broker: Broker,
  entry: ProviderEntry,
  registration: ClientRegistration,
): Promise<ProviderEntry | undefined> {
  return storeChange(broker, entry, withClientOf(broker, entry, registration))
}

function withClientOf(
  broker: Broker,
  { clientSecret: _, ...entry }: ProviderEntry,
  { client, ...registered }: ClientRegistration,
): ProviderEntry {
  return {
    ...entry,
    provider: withClientAuth(entry.provider, registered, broker.now()),
    clientId: client.clientId,
    ...(client.clientSecret !== undefined && {
      clientSecret: sealClientSecret(broker, entry, client.clientSecret),
    }),
  }
}

async function storeChange(
  broker: Broker,
  from: ProviderEntry,
  to: ProviderEntry,
): Promise<ProviderEntry | undefined> {
  const audit = broker.audit.of(to.projectId, { action: 'provider.changed', providerId: to.id })
  return broker.store.providers.change(from, { ...to, updatedAt: broker.now() }, audit)
}
