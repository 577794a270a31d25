import type { AllowsHttp } from '../../egress/endpoint.ts'
import { USUAL_ACCOUNT } from '../../providers/catalogue/define.ts'
import { builtIn, catalogueOf, withOfflineAccess } from '../../providers/catalogue/registry.ts'
import type { Provider, ProviderEntry } from '../../providers/provider.ts'
import { withVariables } from '../../providers/variables.ts'
import { parseOnce } from '../endpoint/parse.ts'
import {
  CLIENT_MEMBERS,
  ENTRY_MEMBERS,
  type EntryContext,
  type EntryModel,
  type EntryView,
} from './entry-members.ts'
import { leaveToIssuer, withIssuerAsEndpoint } from './left-to-issuer.ts'
import { type Found, readMembers, writeMembers } from './member.ts'
import { OAUTH2_MEMBERS, withEnvironmentClient } from './oauth2-settings.ts'
import {
  type OAuth2Input,
  type ProviderWire,
  providerCreateSchema,
  providerPatchSchema,
} from './provider-schema.ts'
import { knownServer, type OAuth2Context, REQUESTS, sameHost, sameServer } from './requests.ts'
import { checkVariables, readVariables } from './url-variables.ts'

/** What an entry is made of before it has a uid, a project and its times; the secret is still to be sealed. */
export interface ParsedProvider {
  readonly entry: Omit<ProviderEntry, 'uid' | 'projectId' | 'clientSecret' | 'createdAt' | 'updatedAt'>
  readonly clientSecret?: string
}

/** The changed entry, with its old `updatedAt` and without a secret that was removed. A new one is still to be sealed. */
export interface PatchedProvider {
  readonly entry: ProviderEntry
  readonly clientSecret?: string
}

export interface WireOptions {
  /** Plain-http endpoints that are allowed; none by default. */
  readonly allowsHttp?: AllowsHttp
}

/**
 * Reads `POST /v1/admin/auth_providers`. With a `provider_id` of the catalogue, what is left out comes from there
 * (asking for offline access); without, `authorize_request` and `token_request` are required. Throws `invalid_request`.
 */
export function parseProviderCreate(body: unknown, options: WireOptions = {}): ParsedProvider {
  const { oauth2, ...sent } = parseOnce(providerCreateSchema, body, 'the body')
  // in a new entry `null` means the same as leaving the member out
  const sentOAuth2: OAuth2Input = withoutNulls(oauth2 ?? {})
  const known = sent.provider_id == null ? undefined : builtIn(sent.provider_id)
  const base = known && withOfflineAccess(known)
  const { clientSecret, ...model } = readEntry(sent, sentOAuth2, undefined)
  const provider = readProvider(sent.id, sentOAuth2, { base, blocksBefore: {} }, options)
  const entry = { status: 'active', ...model, id: sent.id, name: sent.id, source: 'admin', provider } as const
  return { entry, ...(clientSecret !== undefined && { clientSecret }) }
}

/**
 * Applies `PATCH /v1/admin/auth_providers/{id}`: what is left out stays, also within a block, where `params` and
 * `response_map` count as one value each. `null` removes an optional block or setting, as an empty secret removes the
 * secret. Throws `invalid_request`.
 */
export function applyProviderPatch(
  entry: ProviderEntry,
  body: unknown,
  options: WireOptions = {},
): PatchedProvider {
  const { oauth2, ...sent } = parseOnce(providerPatchSchema, body, 'the body')
  const sentOAuth2 = oauth2 ?? {}
  const { clientSecret, ...model } = readEntry(sent, sentOAuth2, entry)
  // an answer can be sent back as a request
  const blocksBefore = writeMembers(REQUESTS, entry.provider) as OAuth2Context['blocksBefore']
  const provider = readProvider(entry.id, sentOAuth2, { base: entry.provider, blocksBefore }, options)
  const { clientSecret: sealed, wellKnownId: _, description: __, ...kept } = entry
  const keepsSecret = sentOAuth2.client_secret === undefined && sealed !== undefined
  return {
    entry: { ...kept, ...(keepsSecret && { clientSecret: sealed }), ...model, provider },
    ...(clientSecret !== undefined && { clientSecret }),
  }
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
    oauth2: { ...writeMembers(CLIENT_MEMBERS, view), ...writeMembers(OAUTH2_MEMBERS, entry.provider) },
  }
}

function readEntry(
  sent: Readonly<Record<string, unknown>>,
  oauth2: OAuth2Input,
  before: ProviderEntry | undefined,
): Partial<EntryModel> {
  const context: EntryContext = { before }
  return {
    ...readMembers(ENTRY_MEMBERS, sent, () => context),
    ...readMembers(CLIENT_MEMBERS, oauth2, () => context),
  }
}

/** The provider that a request describes, over the one that it is based on. */
function readProvider(
  id: string,
  sent: OAuth2Input,
  start: Pick<OAuth2Context, 'base' | 'blocksBefore'>,
  { allowsHttp = () => false }: WireOptions,
): Provider {
  const variables = readVariables(sent.variables, start.base, allowsHttp)
  const base = start.base && withVariables(start.base, variables)
  const asked = base === undefined ? withIssuerAsEndpoint(sent) : sent
  const contextOf = (read: Found<Provider>): OAuth2Context => ({
    ...start,
    base,
    allowsHttp,
    variables,
    read,
  })
  const read = readMembers(OAUTH2_MEMBERS, asked, contextOf)
  const provider = { ...notOnTheWire(id, contextOf(read)), ...read } as Provider // the table reads what is required
  checkVariables(provider)
  const left = leaveToIssuer(provider, sent, base, { isOfCatalogue: catalogueOf(provider) !== undefined })
  return withEnvironmentClient(left, sent.environment_client, base?.environmentClientFor)
}

/** The settings that no request gives. Those of one server do not hold for another. */
function notOnTheWire(id: string, context: OAuth2Context): Partial<Provider> {
  const { base, read } = context
  const isSameServer = sameServer(context)
  const isSameAccount = sameHost(base?.userInfoRequest?.endpoint, read.userInfoRequest?.endpoint)
  return {
    displayName: base?.displayName ?? id,
    ...(knownServer(context)?.ignoresIdToken === true && { ignoresIdToken: true }),
    defaultScopes: base?.defaultScopes ?? [],
    account: base !== undefined && isSameAccount ? base.account : USUAL_ACCOUNT,
    ...(isSameServer && base?.publicClients !== undefined && { publicClients: base.publicClients }),
  }
}

function withoutNulls(record: OAuth2Input): OAuth2Input {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null))
}
