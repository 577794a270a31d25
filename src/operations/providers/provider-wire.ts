import type { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import type { AllowsHttp } from '../../egress/endpoint.ts'
import { missingSettings } from '../../flows/get-provider.ts'
import type { DescribedEntry, NewEntry } from '../../flows/manage-providers.ts'
import { parseOnce } from '../../parsing/parse.ts'
import { createDefinitions, type Definitions } from '../../providers/catalogue/definitions.ts'
import { findBuiltInByEndpoints, withOfflineAccess } from '../../providers/catalogue/registry.ts'
import { checkClientSecret } from '../../providers/definition/client-assertion.ts'
import { readCredentials, writeCredentials } from '../../providers/definition/credentials-settings.ts'
import { withOwner } from '../../providers/definition/grant-settings.ts'
import { readMembers, writeMembers } from '../../providers/definition/member.ts'
import { readOAuth1, writeOAuth1 } from '../../providers/definition/oauth1-settings.ts'
import { OAUTH2_MEMBERS } from '../../providers/definition/oauth2-settings.ts'
import { typeSent } from '../../providers/definition/provider-types.ts'
import { checkOfflineAccess } from '../../providers/definition/read-definition.ts'
import { readProvider } from '../../providers/definition/read-provider.ts'
import { type OAuth2Context, REQUESTS } from '../../providers/definition/requests.ts'
import { withStandardParams } from '../../providers/definition/standard-params.ts'
import { endpointsDigest } from '../../providers/identity.ts'
import { factsOf } from '../../providers/known-facts.ts'
import { type Provider, type ProviderType, typeOf } from '../../providers/provider.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import {
  CLIENT_MEMBERS,
  ENTRY_MEMBERS,
  type EntryContext,
  type EntryModel,
  type EntryView,
} from './entry-members.ts'
import {
  type OAuth2Body,
  type ProviderWire,
  providerCreateSchema,
  providerPatchSchema,
} from './provider-schema.ts'

export interface WireOptions {
  /** Plain-http endpoints that are allowed; none by default. */
  readonly allowsHttp?: AllowsHttp
  /** By default those of the catalogue. */
  readonly definitions?: Definitions
}

const CATALOGUE = createDefinitions()

/**
 * Reads `POST /v1/admin/auth_providers`. With a `provider_id` of the catalogue, members that are left out come from the
 * catalogue, and offline access is requested. Else the settings of the type are required. Throws
 * `invalid_request`.
 */
export function parseProviderCreate(body: unknown, options: WireOptions = {}): DescribedEntry<NewEntry> {
  const { definitions = CATALOGUE } = options
  const { oauth2, oauth1, credentials, ...sent } = parseOnce(providerCreateSchema, body, 'the body')
  // in a new entry `null` means the same as leaving the member out
  const sentOAuth2: OAuth2Body = withoutNulls(oauth2 ?? {})
  const sentOAuth1 = withoutNulls(oauth1 ?? {})
  const known = sent.provider_id == null ? undefined : definitions.find(sent.provider_id)
  const base = known && withOfflineAccess(known)
  const type = typeSent({ type: sent.type, oauth2, oauth1, credentials }, base)
  const mayLackClient = known !== undefined || (oauth2 ?? oauth1) == null
  const context = { before: undefined, definitions, mayLackClient }
  const { clientSecret, ...model } = readEntry(sent, type === 'oauth1' ? sentOAuth1 : sentOAuth2, context)
  const described = describe(type, {
    oauth2: () => providerFrom(sent.id, sentOAuth2, { base, blocksBefore: {} }, options),
    oauth1: () => readOAuth1(sent.id, sentOAuth1, base, options),
    credentials: () => readCredentials(sent.id, credentials ?? {}, base, options),
  })
  const provider = withOfflineAccessOf(sent.offline_access, {
    ...withOwner(described, { owner: sent.owner, oauth2 }),
    ...(sent.name !== undefined && { displayName: sent.name }),
  })
  checkClientSecret(provider, clientSecret)
  const entry = { status: 'active', ...model, id: sent.id, name: sent.id, source: 'admin', provider } as const
  return { entry, ...(clientSecret !== undefined && { clientSecret }) }
}

/**
 * Applies `PATCH /v1/admin/auth_providers/{id}`. Members that are left out do not change, also within a block; `params`
 * and `response_map` are replaced as a whole. `null` removes an optional block or setting, and an empty secret removes
 * the secret. Throws `invalid_request`.
 */
export function applyProviderPatch(
  entry: ProviderEntry,
  body: unknown,
  options: WireOptions = {},
): DescribedEntry<ProviderEntry> {
  const { oauth2, oauth1, credentials, ...sent } = parseOnce(providerPatchSchema, body, 'the body')
  const type = typeSent({ type: sent.type, oauth2, oauth1, credentials }, entry.provider)
  const sentOAuth2 = oauth2 ?? {}
  const sentOAuth1 = oauth1 ?? {}
  const sentClient = type === 'oauth1' ? sentOAuth1 : sentOAuth2
  const { definitions = CATALOGUE } = options
  const context = { before: entry, definitions, mayLackClient: true }
  const { clientSecret, ...model } = readEntry(sent, type === 'oauth1' ? sentOAuth1 : sentOAuth2, context)
  // members of a block that the request leaves out keep these values
  const blocksBefore = writeMembers(REQUESTS, entry.provider) as OAuth2Context['blocksBefore']
  const described = describe(type, {
    oauth2: () => providerFrom(entry.id, sentOAuth2, { base: entry.provider, blocksBefore }, options),
    oauth1: () => readOAuth1(entry.id, sentOAuth1, entry.provider, options),
    credentials: () => readCredentials(entry.id, credentials ?? {}, entry.provider, options),
  })
  const provider = withOwner(described, { owner: sent.owner, oauth2 })
  checkClientSecret(provider, clientSecret)
  const { clientSecret: sealed, wellKnownId: _, description: __, ...kept } = entry
  const keepsSecret = sentClient.client_secret === undefined && sealed !== undefined
  const { clientSecretExpiresAt } = entry.provider
  const keepsClient = sentClient.client_id === undefined || sentClient.client_id === entry.clientId
  const keepsExpiry = keepsSecret && keepsClient && clientSecretExpiresAt !== undefined
  return {
    entry: {
      ...kept,
      ...(keepsSecret && { clientSecret: sealed }),
      ...model,
      provider: { ...provider, ...(keepsExpiry && { clientSecretExpiresAt }) },
    },
    ...(clientSecret !== undefined && { clientSecret }),
  }
}

/** Arcade's `AuthProviderResponse` of a stored entry. */
export function entryToWire(broker: Broker, entry: ProviderEntry): ProviderWire {
  return providerToWire(
    entry,
    broker.redirectUri(entry),
    broker.clientFor(entry)?.clientSecret !== undefined,
    missingSettings(broker, entry),
  )
}

/** Arcade's `AuthProviderResponse`: everything but the secret. */
export function providerToWire(
  entry: ProviderEntry,
  redirectUri: string,
  hasSecret: boolean,
  missing: readonly string[] = [],
): ProviderWire {
  const view: EntryView = { entry, redirectUri, hasSecret, missing }
  return {
    ...writeMembers(ENTRY_MEMBERS, view),
    ...describe<Partial<ProviderWire>>(typeOf(entry.provider), {
      oauth2: () => ({ oauth2: oauth2ToWire(view) }),
      oauth1: () => ({ oauth1: { ...writeMembers(CLIENT_MEMBERS, view), ...writeOAuth1(entry.provider) } }),
      credentials: () => ({ credentials: writeCredentials(entry.provider) }),
    }),
  }
}

function describe<T>(type: ProviderType, as: Readonly<Record<ProviderType, () => T>>): T {
  return as[type]()
}

function oauth2ToWire(view: EntryView): NonNullable<ProviderWire['oauth2']> {
  return {
    ...writeMembers(CLIENT_MEMBERS, view),
    ...writeMembers(OAUTH2_MEMBERS, shown(view.entry.provider)),
  }
}

/** Adds the parameters and scopes by which the definition requests a refresh token. */
function withOfflineAccessOf(
  offlineAccess: z.output<typeof providerCreateSchema>['offline_access'],
  provider: Provider,
): Provider {
  if (offlineAccess === undefined) return provider
  checkOfflineAccess(offlineAccess)
  const { params, scopes } = offlineAccess
  return withOfflineAccess({
    provider: withStandardParams(provider),
    offlineAccess: { ...(params && { params }), ...(scopes && { scopes }) },
  })
}

function readEntry(
  sent: Readonly<Record<string, unknown>>,
  client: Readonly<Record<string, unknown>>,
  context: EntryContext,
): Partial<EntryModel> {
  return {
    ...readMembers(ENTRY_MEMBERS, sent, () => context),
    ...readMembers(CLIENT_MEMBERS, client, () => context),
  }
}

/** Returns the provider that a request describes. What the request leaves out comes from `start.base`. */
function providerFrom(
  id: string,
  sent: OAuth2Body,
  start: Pick<OAuth2Context, 'base' | 'blocksBefore'>,
  { allowsHttp }: WireOptions,
): Provider {
  const provider = readProvider(id, sent, start, {
    ...(allowsHttp && { allowsHttp }),
    knownAt: (authorization, token) => findBuiltInByEndpoints(authorization, token)?.provider,
  })
  return withEnvironmentClient(provider, sent.environment_client, start.base?.environmentClientFor)
}

/** An administrator's confirmation holds for the endpoints that the provider has at that moment. */
function withEnvironmentClient(
  provider: Provider,
  sent: boolean | undefined,
  before: string | undefined,
): Provider {
  const confirmed = sent === undefined ? before : sent ? endpointsDigest(provider) : undefined
  return confirmed === undefined ? provider : { ...provider, environmentClientFor: confirmed }
}

/** What answers show: the settings in force, and a confirmation only where it holds for the endpoints. */
function shown(provider: Provider): Provider {
  const { environmentClientFor, ...rest } = { ...provider, ...factsOf(provider) }
  const isConfirmed = environmentClientFor !== undefined && environmentClientFor === endpointsDigest(provider)
  return isConfirmed ? { ...rest, environmentClientFor } : rest
}

function withoutNulls<Body extends object>(record: Body): Body {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null)) as Body // only fewer members
}
