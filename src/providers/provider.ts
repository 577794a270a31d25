import type { EpochSeconds } from '../domain/clock.ts'
import type { Sealed } from '../domain/sealed.ts'

/**
 * All there is to say about an authorization server and how it is spoken to. It is data: no flow asks which
 * provider it has. Each of the requests is described by a block in the shape of Arcade's provider model;
 * what a block leaves out has the RFC's meaning.
 *
 * `params` values are templates with fixed placeholders (`{{client_id}}`, `{{client_secret}}`,
 * `{{redirect_uri}}`, `{{scopes}}`, `{{existing_scopes}}`, `{{refresh_token}}`, `{{access_token}}`); a value
 * that is put in is never read again as a template. An empty template leaves the parameter out.
 */
export interface Provider {
  readonly displayName: string
  /** The `iss` that authorization responses and ID tokens must carry (RFC 9207, OpenID Connect). Absent: unknown, not checked. */
  readonly issuer?: string
  /** The server announces that every authorization response carries `iss` (RFC 9207 section 3): one without is refused. */
  readonly announcesIss?: boolean
  /** ID tokens that nobody asked for (no `openid`) are neither checked nor read. */
  readonly ignoresIdToken?: boolean
  /** RFC 7636. `plain` only where the entry says so; never a fall-back. */
  readonly pkce: 'S256' | 'plain' | 'none'
  /** Between scopes on the wire; the RFC's is a space (RFC 6749 section 3.3). */
  readonly scopeSeparator: ' ' | ','
  /** Scopes that the server lists under another name than they are asked by: asked by -> listed as. */
  readonly scopeAliases?: Readonly<Record<string, string>>
  /** A scope -> those it includes and the server does not list beside it. `factsOf` fills in what is not said. */
  readonly scopeImplies?: Readonly<Record<string, readonly string[]>>
  /**
   * The authorization response says which scopes the user has left, and the token response says nothing (Strava). It comes
   * through the user's browser, who may leave out more than was approved, so it is believed only where this is set.
   */
  readonly callbackTellsScopes?: boolean
  /**
   * Parameters of the authorization response that tools are given in `extra`: name -> the pattern that the whole value
   * must match. They come through the user's browser.
   */
  readonly callbackMembers?: Readonly<Record<string, string>>
  /** What is asked for when nobody says which scopes. */
  readonly defaultScopes: readonly string[]
  readonly authorizationRequest: AuthorizationRequestBlock
  readonly tokenRequest: TokenRequestBlock
  /** Absent: refresh tokens are never used. */
  readonly refreshRequest?: TokenRequestBlock
  readonly userInfoRequest?: ResourceRequestBlock
  readonly introspectionRequest?: ResourceRequestBlock
  /** RFC 7009. Absent: the provider cannot revoke. */
  readonly revocationRequest?: RequestBlock
  /** `token_type` values accepted besides `Bearer`, in lower case. A missing one is taken as bearer. */
  readonly tokenTypes: readonly string[]
  /** Where the account's id and name stand in the user info, most trusted first; each a response-map expression. */
  readonly account: { readonly id: readonly string[]; readonly name: readonly string[] }
  /**
   * A used refresh token that comes again ends the whole grant, access tokens too. When the outcome of a refresh is not
   * known, the access token is then used to its end before the refresh token is tried once more.
   */
  readonly strictRotation?: boolean
  /** Absent: the user's token is sent to no API by the broker itself. */
  readonly api?: ProviderApi
  /** `true`: clients without a secret are taken, also where `authMethod` is for those that have one. `false`: never. */
  readonly publicClients?: boolean
  /** What the issuer's metadata decides, because nobody else has said it. */
  readonly fromIssuer?: readonly IssuerDecides[]
  /** The issuer's metadata has been read at least once. */
  readonly metadataRead?: true
  /** Where a user's session at the server ends (OpenID Connect RP-Initiated Logout), for callers that want it. */
  readonly endSessionEndpoint?: string
  /** `endpointsDigest` of the endpoints to which an administrator lets the client of the environment go. */
  readonly environmentClientFor?: string
}

/** Endpoints by their role, and settings, that an issuer's metadata can fill. */
export type IssuerDecides = EndpointRole | 'client_authentication' | 'pkce' | 'iss' | 'end_session'

/** Where the user's token may be used by the broker itself: by the proxy, and by tools that are HTTP requests. */
export interface ProviderApi {
  /** What a request's path is put behind where it names no other. Its host is among `hosts`. */
  readonly baseUrl?: string
  /** As `parseApiHost` gives them. The token is sent to no other. */
  readonly hosts: readonly string[]
  /** Template of the `Authorization` value; RFC 6750's unless said. */
  readonly authorization?: string
}

export type ContentType = 'application/x-www-form-urlencoded' | 'application/json'

/**
 * How a request authenticates the client, or carries the token. `client_secret_basic` and `client_secret_post` are those
 * of RFC 6749 section 2.3.1; `client_secret_basic_unencoded` is Basic (RFC 7617) for servers that do not decode the id
 * and the secret; `none` leaves it to `params`; `bearer_access_token` is RFC 6750 section 2.1.
 */
export type ClientAuthMethod =
  | 'client_secret_basic'
  | 'client_secret_basic_unencoded'
  | 'client_secret_post'
  | 'none'
  | 'bearer_access_token'

export interface RequestBlock {
  readonly endpoint: string
  readonly method: 'GET' | 'POST'
  readonly params: Readonly<Record<string, string>>
  readonly authMethod: ClientAuthMethod
  /** Template of the `Authorization` value for `bearer_access_token`, such as `token {{access_token}}`. */
  readonly authHeaderValueFormat?: string
  readonly requestContentType: ContentType
  /** What the answer is read as; a body that is plainly the other kind is still read. */
  readonly responseContentType: ContentType
  /** Standard member name -> expression (`$.a.b`, `join('$.p','d')`, `jwt_decode('$.tok','$.claim')`). */
  readonly responseMap?: Readonly<Record<string, string>>
}

export interface AuthorizationRequestBlock {
  readonly endpoint: string
  readonly params: Readonly<Record<string, string>>
}

export interface TokenRequestBlock extends RequestBlock {
  readonly expirationFormat?: 'absolute_unix_timestamp' | 'relative_seconds'
}

export interface ResourceRequestBlock extends TokenRequestBlock {
  readonly triggers: { readonly onTokenGrant: boolean; readonly onTokenRefresh: boolean }
}

/** A provider as one project knows it: the data, the broker's client there, and its names. */
export interface ProviderEntry {
  /** `prov_…`, over all projects; the last part of its redirect URI. */
  readonly uid: string
  readonly projectId: string
  /** Readable, unique in its project, never changes: `github`, `github-2`. */
  readonly id: string
  /** The name as its source has it. */
  readonly name: string
  /** Arcade's well-known `provider_id`, such as `github`: a requirement may name it instead of `id`. */
  readonly wellKnownId?: string
  readonly description?: string
  readonly externalId?: string
  readonly status: 'active' | 'inactive'
  /** `server`: made for a remote MCP server that wants OAuth; its tokens open that server and are given to no tool. */
  readonly source: 'metadata' | 'admin' | 'server'
  readonly provider: Provider
  readonly clientId?: string
  readonly clientSecret?: Sealed
  /** Of the members that give power (`signed-rows.ts`); the store writes it. */
  readonly mac?: string
  readonly createdAt: EpochSeconds
  readonly updatedAt: EpochSeconds
}

/** The broker's registration at a provider (RFC 6749 section 2), opened for use. */
export interface Client {
  readonly clientId: string
  readonly clientSecret?: string
}

/** A complete entry, ready for requests. `redirectUri` is its own (RFC 9700, mix-up defence). */
export interface RegisteredClient {
  readonly provider: Provider
  readonly client: Client
  readonly redirectUri: string
}

/** What an endpoint is for. Refresh tokens go to the token endpoint unless an entry names another one. */
export type EndpointRole = (typeof ENDPOINT_ROLES)[number]
export const ENDPOINT_ROLES = [
  'authorization',
  'token',
  'refresh',
  'user_info',
  'introspection',
  'revocation',
] as const

/** The entry's endpoints, origin and path, by what they are for. */
export function endpointsOf(provider: Provider): Partial<Record<EndpointRole, string>> {
  const blocks: readonly (readonly [EndpointRole, { readonly endpoint: string } | undefined])[] = [
    ['authorization', provider.authorizationRequest],
    ['token', provider.tokenRequest],
    ['refresh', provider.refreshRequest],
    ['user_info', provider.userInfoRequest],
    ['introspection', provider.introspectionRequest],
    ['revocation', provider.revocationRequest],
  ]
  const token = originAndPath(provider.tokenRequest.endpoint)
  const endpoints: Partial<Record<EndpointRole, string>> = {}
  for (const [role, block] of blocks) {
    if (block === undefined) continue
    const endpoint = originAndPath(block.endpoint)
    if (role !== 'refresh' || endpoint !== token) endpoints[role] = endpoint
  }
  return endpoints
}

export function originAndPath(endpoint: string): string {
  const { origin, pathname } = new URL(endpoint)
  return `${origin}${pathname}`
}
