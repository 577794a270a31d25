import { toTimestamp } from '../domain/clock.ts'
import { type AllowsHttp, endpointFault } from '../egress/endpoint.ts'
import { USUAL_ACCOUNT } from '../providers/catalogue/define.ts'
import {
  builtIn,
  builtInByEndpoints,
  catalogueOf,
  withOfflineAccess,
} from '../providers/catalogue/registry.ts'
import { endpointsDigest } from '../providers/identity.ts'
import type { Provider, ProviderEntry } from '../providers/provider.ts'
import { parseOnce } from './parse.ts'
import { apiToWire, changedApi } from './provider-api.ts'
import {
  authorizationBlockToWire,
  type BlockName,
  parseAuthorizationBlock,
  parseResourceBlock,
  parseTokenBlock,
  refuse,
  resourceBlockToWire,
  tokenBlockToWire,
} from './provider-blocks.ts'
import { leaveToIssuer, withIssuerAsEndpoint } from './provider-issuer.ts'
import {
  type BlockInput,
  type OAuth2Input,
  type ProviderWire,
  providerCreateSchema,
  providerPatchSchema,
} from './provider-schema.ts'
import { changedTraits, traitsToWire } from './provider-traits.ts'

/** What an entry is made of before it has a uid, a project and its times; the secret is still to be sealed. */
export interface ParsedProvider {
  readonly entry: Omit<ProviderEntry, 'uid' | 'projectId' | 'clientSecret' | 'createdAt' | 'updatedAt'>
  readonly clientSecret?: string
}

/** The entry as patched, with its old `updatedAt`; its secret is gone if it was taken away. A new one is still to be sealed. */
export interface PatchedProvider {
  readonly entry: ProviderEntry
  readonly clientSecret?: string
}

export interface WireOptions {
  /** Plain-http endpoints that are allowed; none unless said. */
  readonly allowsHttp?: AllowsHttp
}

const never: AllowsHttp = () => false

/**
 * Reads `POST /v1/admin/auth_providers`. With a `provider_id` of the catalogue, what is left out comes from there
 * (asking for offline access); without, `authorize_request` and `token_request` are required.
 */
export function parseProviderCreate(body: unknown, options: WireOptions = {}): ParsedProvider {
  const { id, description, provider_id, external_id, status, oauth2 } = parseOnce(
    providerCreateSchema,
    body,
    'the body',
  )
  const known = provider_id == null ? undefined : builtIn(provider_id)
  const wellKnownId = known?.id ?? provider_id ?? undefined
  const base = known && withOfflineAccess(known)
  const said = withoutNulls(oauth2 ?? {})
  const asked = base === undefined ? withIssuerAsEndpoint(said) : said
  const built = buildProvider(id, asked, base, (_, block) => block, options.allowsHttp ?? never)
  const described = leaveToIssuer(built, said, base, catalogueOf(built) !== undefined)
  const provider = withEnvironmentClient(described, said.environment_client, described)
  return {
    entry: {
      id,
      name: id,
      ...(wellKnownId !== undefined && { wellKnownId }),
      ...(description != null && { description }),
      ...(external_id != null && { externalId: external_id }),
      status: status ?? 'active',
      source: 'admin',
      provider,
      ...(said.client_id !== undefined && { clientId: said.client_id }),
    },
    ...(said.client_secret && { clientSecret: said.client_secret }),
  }
}

/**
 * Applies `PATCH /v1/admin/auth_providers/{id}`: what is left out stays, also within a block, where `params`,
 * `response_map` each count as one. `null` takes an optional block or setting away; so does an empty secret.
 */
export function applyProviderPatch(
  entry: ProviderEntry,
  body: unknown,
  options: WireOptions = {},
): PatchedProvider {
  const { id, description, provider_id, status, oauth2 } = parseOnce(providerPatchSchema, body, 'the body')
  if (id !== undefined && id !== entry.id) refuse('id', 'never changes; make another provider instead')
  const said = oauth2 ?? {}
  const before: OAuth2Input = oauth2ToWire(entry.provider)
  const merge = (name: BlockName, block: BlockInput): BlockInput => {
    const { triggers, ...kept } = before[name] ?? {}
    // new parameters decide anew whether they carry the secret
    const rethought = block.params != null && kept.auth_method === 'client_secret_post'
    const merged = { ...kept, ...(rethought && { auth_method: 'none' }), ...withoutUndefined(block) }
    return triggers || block.triggers ? { ...merged, triggers: { ...triggers, ...block.triggers } } : merged
  }
  const patched = buildProvider(entry.id, said, entry.provider, merge, options.allowsHttp ?? never)
  const open = leaveToIssuer(patched, said, entry.provider, catalogueOf(patched) !== undefined)
  const provider = withEnvironmentClient(open, said.environment_client, entry.provider)
  const { clientSecret, wellKnownId: _, description: __, ...rest } = entry
  const wellKnownId = changed(provider_id, entry.wellKnownId)
  const newDescription = changed(description, entry.description)
  return {
    entry: {
      ...rest,
      ...(wellKnownId !== undefined && { wellKnownId: builtIn(wellKnownId)?.id ?? wellKnownId }),
      ...(newDescription !== undefined && { description: newDescription }),
      status: status ?? entry.status,
      provider,
      ...(said.client_id !== undefined && { clientId: said.client_id }),
      ...(said.client_secret === undefined && clientSecret !== undefined && { clientSecret }),
    },
    ...(said.client_secret && { clientSecret: said.client_secret }),
  }
}

/** An administrator's word on the client of the environment holds for the endpoints of that moment. */
function withEnvironmentClient(
  provider: Provider,
  said: boolean | undefined,
  { environmentClientFor: before }: Provider,
): Provider {
  const confirmed = said === undefined ? before : said ? endpointsDigest(provider) : undefined
  return confirmed === undefined ? provider : { ...provider, environmentClientFor: confirmed }
}

/** Arcade's `AuthProviderResponse`: everything but the secret. */
export function providerToWire(
  entry: ProviderEntry,
  redirectUri: string,
  hasSecret: boolean,
  missing: readonly string[] = [],
): ProviderWire {
  const { id, description, wellKnownId, status, projectId, clientId, createdAt, updatedAt } = entry
  return {
    id,
    ...(description !== undefined && { description }),
    ...(wellKnownId !== undefined && { provider_id: wellKnownId }),
    type: 'oauth2',
    status: status === 'active' && missing.length > 0 ? 'missing' : status,
    ...(missing.length > 0 && { missing: [...missing] }),
    binding: { id: projectId, type: 'project' },
    created_at: toTimestamp(createdAt),
    updated_at: toTimestamp(updatedAt),
    oauth2: {
      ...(clientId !== undefined && { client_id: clientId }),
      client_secret: { binding: 'project', editable: true, exists: hasSecret },
      redirect_uri: redirectUri,
      ...oauth2ToWire(entry.provider),
    },
  }
}

/** A provider of what was said, over what it is based on. A block that is `null` is none, one left out is the base's. */
function buildProvider(
  id: string,
  said: OAuth2Input,
  base: Provider | undefined,
  complete: (name: BlockName, block: BlockInput) => BlockInput,
  allowsHttp: AllowsHttp,
): Provider {
  /** The block as parsed; the base's when nothing is said, `undefined` when it is taken away. */
  const block = <T>(name: BlockName, old: T | undefined, read: (block: BlockInput) => T): T | undefined => {
    const given = said[name]
    if (given === undefined) return old
    return given === null || given.enabled === false ? undefined : read(complete(name, given))
  }
  const required = <T>(name: BlockName, old: T | undefined, read: (block: BlockInput) => T): T =>
    block(name, old, read) ??
    refuse(
      `oauth2.${name}`,
      'is required, unless issuer is given or provider_id names a provider that Gatepass knows',
    )

  const authorizationRequest = required('authorize_request', base?.authorizationRequest, (given) =>
    parseAuthorizationBlock(given, allowsHttp),
  )
  const tokenRequest = required('token_request', base?.tokenRequest, (given) =>
    parseTokenBlock('token_request', given, allowsHttp),
  )
  const refreshRequest = block('refresh_request', base?.refreshRequest, (given) =>
    parseTokenBlock('refresh_request', given, allowsHttp),
  )
  const userInfoRequest = block('user_info_request', base?.userInfoRequest, (given) =>
    parseResourceBlock('user_info_request', given, allowsHttp),
  )
  const introspectionRequest = block('token_introspection_request', base?.introspectionRequest, (given) =>
    parseResourceBlock('token_introspection_request', given, allowsHttp),
  )
  const revocationRequest = block('revocation_request', base?.revocationRequest, (given) =>
    parseTokenBlock('revocation_request', given, allowsHttp),
  )
  // what is known of one server says nothing of another
  const sameServer = sameHost(base?.authorizationRequest.endpoint, authorizationRequest.endpoint)
  const wellKnown = builtInByEndpoints(authorizationRequest.endpoint, tokenRequest.endpoint)?.builtIn.provider
  const known = base !== undefined && sameServer ? base : wellKnown
  const issuer = changed(said.issuer, known?.issuer)
  const issuerFault = issuer === undefined ? undefined : endpointFault(issuer, allowsHttp)
  if (issuerFault !== undefined) refuse('oauth2.issuer', issuerFault)
  const announcesIss = changed(
    said.authorization_response_iss_parameter_supported,
    issuer === undefined ? undefined : known?.announcesIss,
  )
  if (announcesIss === true && issuer === undefined)
    refuse(
      'oauth2.authorization_response_iss_parameter_supported',
      'needs oauth2.issuer to compare `iss` with',
    )
  const endSession = changed(said.end_session_endpoint, sameServer ? base?.endSessionEndpoint : undefined)
  const endSessionFault = endSession === undefined ? undefined : endpointFault(endSession, allowsHttp)
  if (endSessionFault !== undefined) refuse('oauth2.end_session_endpoint', endSessionFault)
  const api = changedApi(said.api, known?.api, allowsHttp)
  const sameAccount = sameHost(base?.userInfoRequest?.endpoint, userInfoRequest?.endpoint)
  return {
    displayName: base?.displayName ?? id,
    ...(issuer !== undefined && { issuer }),
    ...(announcesIss !== undefined && { announcesIss }),
    ...(endSession !== undefined && { endSessionEndpoint: endSession }),
    ...(known?.ignoresIdToken === true && { ignoresIdToken: true }),
    pkce: pkceOf(said.pkce, base?.pkce),
    scopeSeparator: said.scope_delimiter ?? base?.scopeSeparator ?? ' ',
    ...changedTraits(said, base, sameServer),
    defaultScopes: base?.defaultScopes ?? [],
    authorizationRequest,
    tokenRequest,
    ...(refreshRequest !== undefined && { refreshRequest }),
    ...(userInfoRequest !== undefined && { userInfoRequest }),
    ...(introspectionRequest !== undefined && { introspectionRequest }),
    ...(revocationRequest !== undefined && { revocationRequest }),
    tokenTypes: (changed(said.token_types, base?.tokenTypes) ?? []).map((type) => type.toLowerCase()),
    account: base !== undefined && sameAccount ? base.account : USUAL_ACCOUNT,
    ...(sameServer && base?.publicClients !== undefined && { publicClients: base.publicClients }),
    ...(changed(said.strict_rotation, sameServer && base?.strictRotation) && { strictRotation: true }),
    ...(api !== undefined && { api }),
  }
}

/** S256 unless it is said otherwise; `plain` only by its name (RFC 7636 section 4.2). */
function pkceOf(said: OAuth2Input['pkce'], base: Provider['pkce'] = 'S256'): Provider['pkce'] {
  if (said == null) return base
  if (!(said.enabled ?? base !== 'none')) return 'none'
  const method = said.code_challenge_method ?? (base === 'plain' ? 'plain' : 'S256')
  if (method !== 'S256' && method !== 'plain')
    return refuse('oauth2.pkce.code_challenge_method', 'has to be S256')
  return method
}

function oauth2ToWire(provider: Provider) {
  const { issuer, pkce, refreshRequest, userInfoRequest, introspectionRequest, revocationRequest } = provider
  return {
    scope_delimiter: provider.scopeSeparator,
    pkce: { enabled: pkce !== 'none', code_challenge_method: pkce === 'plain' ? 'plain' : 'S256' },
    authorize_request: authorizationBlockToWire(provider.authorizationRequest),
    token_request: tokenBlockToWire(provider.tokenRequest),
    ...(refreshRequest !== undefined && { refresh_request: tokenBlockToWire(refreshRequest) }),
    ...(userInfoRequest !== undefined && { user_info_request: resourceBlockToWire(userInfoRequest) }),
    ...(introspectionRequest !== undefined && {
      token_introspection_request: { ...resourceBlockToWire(introspectionRequest), enabled: true as const },
    }),
    ...(revocationRequest !== undefined && { revocation_request: tokenBlockToWire(revocationRequest) }),
    ...(issuer !== undefined && { issuer }),
    ...(provider.announcesIss === true && { authorization_response_iss_parameter_supported: true }),
    ...(provider.tokenTypes.length > 0 && { token_types: [...provider.tokenTypes] }),
    ...(provider.endSessionEndpoint !== undefined && {
      end_session_endpoint: provider.endSessionEndpoint,
    }),
    ...(provider.strictRotation && { strict_rotation: true as const }),
    ...(provider.environmentClientFor === endpointsDigest(provider) && { environment_client: true as const }),
    ...(provider.api !== undefined && { api: apiToWire(provider.api) }),
    ...traitsToWire(provider),
  }
}

/** The new value; the old one when nothing is said, none when `null` takes it away. */
function changed<T>(said: T | null | undefined, old: T | undefined): T | undefined {
  return said === undefined ? old : (said ?? undefined)
}

function sameHost(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return new URL(one).host === new URL(other).host
}

function withoutUndefined<T extends object>(record: T): T {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as T // only fewer members
}

/** In a new provider `null` means what leaving out means. */
function withoutNulls(record: OAuth2Input): OAuth2Input {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null))
}
