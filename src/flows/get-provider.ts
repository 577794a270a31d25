import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import { didYouMean, nearest } from '../domain/nearest.ts'
import { catalogueEntries } from '../providers/catalogue/search.ts'
import { keyMethodOf } from '../providers/client-key.ts'
import {
  type ConnectionValues,
  hasOwnEndpoints,
  withConnectionValues,
} from '../providers/connection-values.ts'
import { formerIdentitiesOf, identityOf } from '../providers/identity.ts'
import { factsOf } from '../providers/known-facts.ts'
import type { Provider } from '../providers/provider.ts'
import { endpointsOf } from '../providers/provider-endpoints.ts'
import type { ProviderEntry, RegisteredClient } from '../providers/provider-entry.ts'
import { isUserless } from '../providers/provider-grant.ts'
import { hasPlaceholder } from '../providers/template.ts'
import { environmentName } from '../services/environment-client.ts'
import { type ProviderBook, providerBook } from './provider-book.ts'

/** How a requirement names its provider: an entry's own `id`, or a well-known `provider_id` such as `github`. */
export interface ProviderName {
  readonly id?: string
  readonly providerId?: string
}

/**
 * Like `getProvider`, but throws `provider_inactive` for an inactive entry. Returns without a promise if the entries are
 * cached.
 */
export function getActiveProvider(
  broker: Broker,
  projectId: string,
  name: ProviderName,
): ProviderEntry | Promise<ProviderEntry> {
  const entries = broker.cache.providers.of(projectId)
  return entries instanceof Promise
    ? entries.then((read) => requireActive(getProviderIn(providerBook(read), name)))
    : requireActive(getProviderIn(providerBook(entries), name))
}

/**
 * The entry of the given `id`, active or not; else the only entry with that `provider_id` as id or as well-known id.
 * Throws `provider_not_found`, also when several entries have the well-known id.
 */
export async function getProvider(
  broker: Broker,
  projectId: string,
  name: ProviderName,
): Promise<ProviderEntry> {
  return getProviderIn(await providersOf(broker, projectId), name)
}

/** The provider entries of the project, through the cache. */
export async function providersOf(broker: Broker, projectId: string): Promise<ProviderBook> {
  return providerBook(await broker.cache.providers.of(projectId))
}

/** The id of the definition of the catalogue that was probably meant. */
function nearestDefinition(wanted: string): string | undefined {
  return nearest(
    wanted,
    catalogueEntries().map((entry) => entry.id),
  )
}

/** Names the definition of the catalogue that was probably meant, and how to add it; else the empty string. */
export function similarDefinition(wanted: string): string {
  const id = nearestDefinition(wanted)
  if (id === undefined) return ''
  return ` The catalogue has ${id === wanted ? 'it' : `"${id}"`}: gatepass providers add ${id}.`
}

/** Like `getProvider`, in the entries of `providersOf`. */
export function getProviderIn(book: ProviderBook, name: ProviderName): ProviderEntry {
  const wanted = name.id ?? name.providerId ?? ''
  const entry = book.byId(wanted) ?? findByKind(book, wanted)
  if (entry !== undefined) return entry
  const similar = similarProvider(wanted, book.entries)
  const catalogued = similar === '' ? nearestDefinition(wanted) : undefined
  const message = `There is no provider "${wanted}" in this project.${similar || similarDefinition(wanted)} GET /v1/admin/auth_providers lists those there are; import tool metadata or POST /v1/admin/auth_providers to add one.`
  const fault = { path: '', code: 'unknown', message } as const
  throw new BrokerError('provider_not_found', message, {
    ...(catalogued !== undefined && { faults: [{ ...fault, catalogued }] }),
  })
}

/** ` Did you mean "…"?` with the nearest id of an entry, or the empty string. */
export function similarProvider(wanted: string, entries: readonly ProviderEntry[]): string {
  return didYouMean(
    wanted,
    entries.map(({ id }) => id),
  )
}

/** Returns the entry; throws `provider_inactive` for an inactive one. */
export function requireActive(entry: ProviderEntry): ProviderEntry {
  if (entry.status === 'active') return entry
  throw new BrokerError(
    'provider_inactive',
    `The provider "${entry.id}" is switched off. An administrator can set its status to active.`,
  )
}

/** The entry with the key `uid` in this project. */
export async function findProviderByUid(
  broker: Broker,
  projectId: string,
  uid: string,
): Promise<ProviderEntry | undefined> {
  return (await providersOf(broker, projectId)).byUid(uid)
}

function findByKind(book: ProviderBook, wanted: string): ProviderEntry | undefined {
  const ofKind = book.byKind(wanted)
  if (ofKind.length > 1) {
    const message = `"${wanted}" may be any of ${ofKind.map((entry) => `"${entry.id}"`).join(', ')}: name one of them by its id.`
    throw new BrokerError('provider_not_found', message, {
      faults: [{ path: '', code: 'conflict', message }],
    })
  }
  return ofKind[0]
}

/** The names of the settings that the entry still needs. */
export function missingSettings(broker: Broker, entry: ProviderEntry): string[] {
  const { provider } = entry
  if (provider.credentials !== undefined) return []
  const client = unopenedClient(broker, entry)
  if (client === undefined) return ['client_id', 'client_secret']
  return client.clientSecret === undefined && needsSecret(provider) ? ['client_secret'] : []
}

/** Like `broker.clientFor`, but leaves the secret sealed, since lists call it for hundreds of entries. */
function unopenedClient(
  broker: Broker,
  entry: ProviderEntry,
): { readonly clientId: string; readonly clientSecret?: string | undefined } | undefined {
  const { clientId, clientSecret } = entry
  if (clientId !== undefined) return { clientId, clientSecret }
  const named = broker.environmentClient(entry)
  return named?.allowed ? named.client : undefined
}

/** The client id of the entry, from the entry itself or the environment. */
export function clientIdOf(broker: Broker, entry: ProviderEntry): string | undefined {
  return unopenedClient(broker, entry)?.clientId
}

/** Whether the client needs a secret. One that uses PKCE with S256 may be public (RFC 6749 section 2.1), unless the entry says otherwise. */
function needsSecret(provider: Provider): boolean {
  if (provider.tokenRequest === undefined) return false
  if (isUserless(provider)) return true
  const { authMethod, params } = provider.tokenRequest
  if (keyMethodOf(provider) !== undefined) return true
  if (Object.values(params).some((template) => hasPlaceholder(template, 'client_secret'))) return true
  const { publicClients } = factsOf(provider)
  if (publicClients !== undefined) return !publicClients
  return (
    authMethod === 'client_secret_basic' ||
    authMethod === 'client_secret_basic_unencoded' ||
    provider.pkce !== 'S256'
  )
}

/** Where people type credentials, no client is registered. */
const NO_CLIENT = { clientId: '' }

/**
 * The entry with its client, ready for requests, at the endpoints of a connection with these values. A request whose
 * endpoint needs another value reaches no host. Throws `provider_incomplete`, which names the missing settings.
 */
export function registeredClient(
  broker: Broker,
  entry: ProviderEntry,
  values: ConnectionValues = {},
): RegisteredClient {
  const client = entry.provider.credentials === undefined ? broker.clientFor(entry) : NO_CLIENT
  const missing = missingSettings(broker, entry)
  if (client === undefined || missing.length > 0)
    throw new BrokerError('provider_incomplete', whatToSet(broker, entry, missing))
  const provider = hasOwnEndpoints(entry.provider)
    ? withConnectionValues(entry.provider, values)
    : entry.provider
  return { provider, client, redirectUri: broker.redirectUri(entry) }
}

function whatToSet(broker: Broker, entry: ProviderEntry, missing: readonly string[]): string {
  const path = `/v1/admin/auth_providers/${entry.id}`
  if (broker.clientFor(entry) === undefined && broker.environmentClient(entry) !== undefined)
    return unconfirmed(entry)
  const variable = environmentName(entry.id)
  return `The provider "${entry.id}" has no ${missing.join(' and no ')}. Register ${broker.redirectUri(entry)} as the redirect URI at ${entry.provider.displayName}, then set ${missing.map((member) => `${variable}_${member.toUpperCase()}`).join(' and ')} in the environment, PATCH ${path}, or run: gatepass providers set ${entry.id}`
}

/** Explains why the environment's client under the entry's name is not used. */
export function unconfirmed({ id, provider }: ProviderEntry): string {
  const { authorization, token } = endpointsOf(provider)
  const at = Object.entries({ authorization, token })
    .flatMap(([role, endpoint]) => (endpoint === undefined ? [] : `${role} at ${new URL(endpoint).host}`))
    .join(', ')
  return `The environment has a client for the provider "${id}", but its endpoints (${at}) are not those of a provider of that name in the catalogue, so the client is not sent there. If they are right, an administrator confirms them by PATCH /v1/admin/auth_providers/${id} {"oauth2": {"environment_client": true}}, or sets client_id and client_secret there.`
}

/**
 * Whether the attempt that kept this identity began with the same client and endpoints, maybe before an upgrade: an earlier
 * release computed it by another rule (`formerIdentitiesOf`).
 */
export function beganWith(broker: Broker, entry: ProviderEntry, identity: string): boolean {
  if (identity === providerIdentity(broker, entry)) return true
  return formerIdentitiesOf(entry.provider, clientIdOf(broker, entry)).includes(identity)
}

const identities = new WeakMap<ProviderEntry, string>()

/** The client and endpoints that may receive the entry's tokens, as one comparable value. */
export function providerIdentity(broker: Broker, entry: ProviderEntry): string {
  const known = identities.get(entry)
  if (known !== undefined) return known
  const identity = identityOf(entry.provider, clientIdOf(broker, entry))
  identities.set(entry, identity)
  return identity
}
