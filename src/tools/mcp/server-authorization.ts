import type { Broker } from '../../broker.ts'
import { newId } from '../../domain/ids.ts'
import type { Worker } from '../../domain/worker.ts'
import { changeProvider } from '../../flows/change-provider.ts'
import { freeProviderId } from '../../flows/free-provider-id.ts'
import { usualAuthMethod } from '../../providers/client-registration.ts'
import type { Challenge } from '../../providers/protected-resource.ts'
import type { CodeProvider } from '../../providers/provider.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { ProviderRefusal } from '../../providers/provider-refusal.ts'
import { changeRow } from '../../services/change-row.ts'
import type { AuditEntries } from '../../store/audit-entries.ts'
import { authorizationFault } from './authorization-fault.ts'
import { discoverAuthorizationServer } from './discover-authorization-server.ts'
import { withClient, withNewClient } from './server-client.ts'
import { isSameServer, serverProvider, withEndpoints, withScopes } from './server-provider.ts'
import { mcpSecrets, mcpSettings, type ServerAuthorization, serverScopes } from './settings.ts'

/** How many authorization servers one MCP server may name over time, because a hostile server could name new ones forever. */
const MAX_ENTRIES = 5

/**
 * Discovers the authorization server of an MCP server that refused a request, stores it as a provider entry with a client
 * there, and records the entry in the worker's settings. If the server names another authorization server than before,
 * the new one gets its own entry, so that no token of the old one is sent to it. Throws a `WorkerFault` that tells the
 * operator what to do.
 */
export async function discoverServerAuthorization(
  broker: Broker,
  worker: Worker,
  challenge: Challenge,
): Promise<ServerAuthorization> {
  if (mcpSecrets(broker, worker).brokerSecret !== undefined)
    throw authorizationFault(
      'The server refused the signature that mcp.secret makes (401). Give the server the same secret (brokerSecret).',
    )
  const { headers = {} } = mcpSettings(worker)
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'authorization'))
    throw authorizationFault(
      'The server refused the Authorization header that mcp.headers gives it (401). Correct its secret, or remove the header if users shall approve.',
    )
  try {
    const entry = await discoverEntry(broker, worker, challenge)
    const known = mcpSettings(worker).authorization
    const isKnown = known?.providerUid === entry.uid
    return await saveServerAuthorization(broker, worker, {
      providerUid: entry.uid,
      scopes: challenge.scopes ?? (isKnown ? known.scopes : []),
      ...(isKnown && known.userId !== undefined && { userId: known.userId }),
    })
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error
    throw authorizationFault(error.message, error.reason === 'provider_unavailable')
  }
}

/** Stores the authorization in the worker's current settings, unless the worker's URL has changed meanwhile. */
export async function saveServerAuthorization(
  broker: Broker,
  worker: Worker,
  authorization: ServerAuthorization,
  audit?: AuditEntries,
): Promise<ServerAuthorization> {
  const { workers } = broker.store
  const read = () => workers.findByUid(worker.uid)
  return changeRow(`The worker "${worker.id}"`, await read(), read, async (current) => {
    if (current === undefined || current.uri !== worker.uri) return authorization
    const before = mcpSettings(current).authorization
    if (JSON.stringify(before) === JSON.stringify(authorization)) return authorization
    const changed = { ...current, settings: { ...current.settings, authorization } }
    return (await workers.change(current, changed, audit)) && authorization
  })
}

async function discoverEntry(broker: Broker, worker: Worker, challenge: Challenge): Promise<ProviderEntry> {
  const { resource, metadata, noMetadata, scopesSupported } = await discoverAuthorizationServer(
    broker,
    worker,
    challenge,
    (issuer) => checkClient(broker, worker, issuer),
  )
  const isGuessed = noMetadata !== undefined
  const provider = serverProvider({
    displayName: new URL(worker.uri).host,
    metadata,
    resource,
    scopes: serverScopes(mcpSettings(worker), challenge.scopes ?? scopesSupported),
    authMethod: usualAuthMethod(metadata),
    isGuessed,
  })
  const isClientConfigured = mcpSettings(worker).oauth2?.clientId !== undefined
  // guessed endpoints get an entry only after a client could be registered there, which proves that they exist
  const prepare = (entry: ProviderEntry) =>
    isGuessed && !isClientConfigured ? withNewClient(broker, entry, metadata) : Promise.resolve(entry)
  try {
    const entry = await ensureEntry(broker, worker, provider, prepare)
    return await withClient(broker, worker, entry, metadata)
  } catch (error) {
    if (noMetadata === undefined || !(error instanceof ProviderRefusal)) throw error
    throw new ProviderRefusal(
      error.reason,
      `${noMetadata.message} Its origin has no metadata of an authorization server, and the default endpoints there failed: ${error.message} If it has an authorization server, name its issuer in mcp.oauth2.authorization_url.`,
      { cause: error },
    )
  }
}

/**
 * A configured client and its secret belong to one authorization server. Refuses to let the MCP server move them to
 * another one.
 */
async function checkClient(broker: Broker, worker: Worker, issuer: string | undefined): Promise<void> {
  const { clientId, authorizationUrl } = mcpSettings(worker).oauth2 ?? {}
  if (clientId === undefined || authorizationUrl !== undefined) return
  const entries = await broker.store.providers.list(worker.projectId)
  const other = entries.find((entry) => entry.externalId === worker.uid && entry.provider.issuer !== issuer)
  if (other !== undefined)
    throw authorizationFault(
      `The server names the authorization server ${issuer ?? new URL(worker.uri).origin}, and named ${other.provider.issuer ?? 'none'} before. The client of mcp.oauth2 belongs to only one of them: say which by PATCH /v1/workers/${worker.id} {"mcp": {"oauth2": {"authorization_url": …}}}.`,
    )
}

/**
 * Returns the worker's entry for the provider, updated; if there is none, stores a new one after `prepare` has
 * completed it.
 */
async function ensureEntry(
  broker: Broker,
  worker: Worker,
  provider: CodeProvider,
  prepare: (entry: ProviderEntry) => Promise<ProviderEntry>,
): Promise<ProviderEntry> {
  const { store } = broker
  const { projectId } = worker
  const entries = await store.providers.list(projectId)
  const own = entries.filter((known) => known.externalId === worker.uid)
  const same = own.filter((known) => isSameServer(known.provider, provider))
  const inUse = mcpSettings(worker).authorization?.providerUid
  const found = same.find(({ uid }) => uid === inUse) ?? same[0]
  if (found !== undefined) {
    const wanted = mcpSettings(worker).oauth2?.scopes ?? []
    const current = withScopes(withEndpoints(found.provider, provider), wanted)
    if (JSON.stringify(current) === JSON.stringify(found.provider)) return found
    const to = { ...found, provider: current, updatedAt: broker.now() }
    // only a revocation endpoint may be new: users approved this client at this issuer, and need not approve again
    const kept = await changeProvider(broker, found, to, { keepConnections: true, confirmed: false })
    return kept ?? ensureEntry(broker, worker, provider, prepare)
  }
  if (own.length >= MAX_ENTRIES)
    throw authorizationFault(
      `The server has named ${own.length} authorization servers by now, and names yet another, ${provider.issuer}. If that is right, delete those that are no longer used: ${own.map(({ id }) => `DELETE /v1/admin/auth_providers/${id}`).join(', ')}.`,
    )
  const name = `mcp-${worker.id}`
  const now = broker.now()
  const entry: ProviderEntry = {
    uid: newId('prov'),
    projectId,
    id: freeProviderId(name, new Set(entries.map((providerEntry) => providerEntry.id))),
    name,
    description: `Opens the MCP server ${worker.id}`,
    externalId: worker.uid,
    status: 'active',
    source: 'server',
    provider,
    createdAt: now,
    updatedAt: now,
  }
  const audit = broker.audit.of(projectId, { action: 'provider.added', providerId: entry.id })
  // `add` fails if the id was taken meanwhile, probably by another process that reads the same server
  return (
    (await store.providers.add(await prepare(entry), audit)) ?? ensureEntry(broker, worker, provider, prepare)
  )
}
