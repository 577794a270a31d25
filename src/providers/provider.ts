import type { EpochSeconds } from '../domain/clock.ts'
import type { ClientAssertion, GrantAssertion, RequestObject } from './client-auth-method.ts'
import type { CredentialsSettings } from './credentials.ts'
import type { DpopSettings } from './dpop.ts'
import type { EndpointRole } from './endpoint-role.ts'
import type { OAuth1Settings } from './oauth1/settings.ts'
import type {
  AuthorizationRequestBlock,
  ChoicesRequestBlock,
  InstallationsRequestBlock,
  RenewalRequestBlock,
  RequestEndpoint,
  ResourceRequestBlock,
  RevocationRequestBlock,
  TestRequestBlock,
  TokenRequestBlock,
} from './request-block.ts'

/**
 * The complete description of an authorization server and of the requests to it. It is data: no flow asks which provider
 * it has. Each request is described by a block in the shape of Arcade's provider model; omitted members have the RFC's
 * meaning.
 *
 * `params` values are templates with fixed placeholders (`{{client_id}}`, `{{client_secret}}`,
 * `{{redirect_uri}}`, `{{scopes}}`, `{{existing_scopes}}`, `{{refresh_token}}`, `{{access_token}}`), in the refresh
 * request also with the kept values; a value that is put in is never read again as a template. An empty template leaves
 * the parameter out.
 */
export interface Provider {
  readonly displayName: string
  /** The `iss` that authorization responses and ID tokens must carry (RFC 9207, OpenID Connect). Absent: unknown, not checked. */
  readonly issuer?: string
  /** The server announces that every authorization response carries `iss` (RFC 9207 section 3): one without is refused. */
  readonly announcesIss?: boolean
  /** How to make the JWT by which the client authenticates. The entry's client secret is its key. */
  readonly clientAssertion?: ClientAssertion
  /**
   * How to make the JWT of the grants `jwt_bearer` (RFC 7523 section 2.1) and `installation`. Its key is the entry's client
   * secret, or with `installation` the private key that follows the secret.
   */
  readonly assertion?: GrantAssertion
  /** The client gets tokens in the name of each user whose whole id matches the RE2 expression. */
  readonly impersonation?: { readonly pattern: string }
  /** RFC 9101: the parameters of the authorization request are in a JWT that the client's key signs. */
  readonly requestObject?: RequestObject
  /** RFC 9449: tokens are bound to a key of their connection. */
  readonly dpop?: DpopSettings
  /** ID tokens that were not requested (no `openid` scope) are neither checked nor read. */
  readonly ignoresIdToken?: boolean
  /** RFC 7636. `plain` only if the entry says so, never as a fall-back. */
  readonly pkce: 'S256' | 'plain' | 'none'
  /** The server refuses requests without PKCE, so it cannot be switched off. */
  readonly pkceRequired?: boolean
  /** The S256 challenge is sent as hexadecimal digits in place of base64url (TikTok's desktop clients). */
  readonly hexCodeChallenge?: boolean
  /**
   * Parts of its URLs that differ from one installation or account to the next, such as Zendesk's subdomain. They are
   * part of the entry's identity.
   */
  readonly variables?: Readonly<Record<string, ProviderVariable>>
  /** Between scopes on the wire; the RFC's is a space (RFC 6749 section 3.3). */
  readonly scopeSeparator: ' ' | ','
  /** Scopes that the server lists under another name: requested name -> listed name. */
  readonly scopeAliases?: Readonly<Record<string, string>>
  /** A scope -> scopes that it includes and that the server does not list. `factsOf` supplies the catalogue's. */
  readonly scopeImplies?: Readonly<Record<string, readonly string[]>>
  /**
   * The server keeps what was granted before when it is asked for more: only new scopes are requested of a user whose
   * connection works. Unless set, the union is requested.
   */
  readonly keepsEarlierGrants?: boolean
  /** The parameter of the authorization response that has the code, if it is not `code`: `auth_code` (Alipay). */
  readonly codeParameter?: string
  /** The parameter that has the state, if it is not `state`, in the request and in the response (Crisp). */
  readonly stateParameter?: string
  /**
   * Only the authorization response lists the granted scopes (Strava). It comes through the user's browser, which may
   * change it, so it is used only if this is set.
   */
  readonly callbackTellsScopes?: boolean
  /**
   * Parameters of the authorization response that tools are given in `extra`: name -> the pattern that the whole value
   * must match. They come through the user's browser.
   */
  readonly callbackMembers?: Readonly<Record<string, string>>
  /**
   * Values that the provider tells of each connection, such as Salesforce's `instance_url`: the API's base URL and headers
   * and the refresh request may name them.
   */
  readonly keptValues?: Readonly<Record<string, KeptValue>>
  /** Requested when a requirement names no scopes. */
  readonly defaultScopes: readonly string[]
  /** The entry is of the type `credentials`: people type what is sent to the API. */
  readonly credentials?: CredentialsSettings
  /** The entry is of the type `oauth1`: requests are signed, and no token is ever handed out. */
  readonly oauth1?: OAuth1Settings
  /** How a credential is obtained. Absent: by a code that a user's browser brings (RFC 6749 section 4.1). */
  readonly grant?: GrantSettings
  /** Whose connections there may be. Absent: as `ownerOf` says. */
  readonly owner?: ConnectionOwnerKind
  /** Users may begin at the provider. */
  readonly installation?: InstallationSettings
  /**
   * Lists the tenants of the user, with the token of the user's code: a connection is for one of them, which the user chooses
   * (Atlassian's sites, Xero's organizations).
   */
  readonly choicesRequest?: ChoicesRequestBlock
  /** With the grant `installation`: lists the installations that the user may use, with the token of the user's code. */
  readonly installationsRequest?: InstallationsRequestBlock
  /** With the grant `installation`: asks for a token of one installation. The client's assertion is its bearer token. */
  readonly installationTokenRequest?: TokenRequestBlock
  /** The provider's page where people install the client. It may name the entry's variables. */
  readonly installationUri?: string
  /** The provider's page where people end an installation, as `installationUri`. */
  readonly installationHelpUri?: string
  /** Tokens of an installation may have all that it has: needs without scopes are met, and requests need place none. */
  readonly unscopedTokens?: true
  /** Absent where no browser is sent to the server. */
  readonly authorizationRequest?: AuthorizationRequestBlock
  /**
   * RFC 9126: the parameters of the authorization request go here first, and the browser carries only a reference to them.
   * The client authenticates as at the token endpoint.
   */
  readonly pushedAuthorizationRequest?: RequestEndpoint
  /** RFC 8628 section 3.1: asks for the code that the user enters at the provider. */
  readonly deviceAuthorizationRequest?: TokenRequestBlock
  /** The hosts, as `parseApiHost` writes them, where users may enter a code. Absent: those of the token endpoint's site. */
  readonly verificationHosts?: readonly string[]
  /** Users may approve by a code although the provider does not say which account approved. */
  readonly unnamedAccounts?: true
  /** RFC 5849 section 2.1: asks for the temporary credentials that the browser then carries to `authorizationRequest`. */
  readonly temporaryRequest?: TokenRequestBlock
  /** Absent where the credential is what was typed, such as an API key. */
  readonly tokenRequest?: TokenRequestBlock
  /** Absent: refresh tokens are never used. */
  readonly refreshRequest?: TokenRequestBlock
  /**
   * Sent after the code was redeemed, with the access token of that response; the tokens of its response take their place
   * (Instagram, Facebook, Threads).
   */
  readonly exchangeRequest?: TokenRequestBlock
  /** Renews the access token itself while it is alive (Instagram, Threads). In place of `refreshRequest`. */
  readonly renewalRequest?: RenewalRequestBlock
  /** Sent with typed credentials before they are stored: a 2xx status means that the service takes them. */
  readonly testRequest?: TestRequestBlock
  readonly userInfoRequest?: ResourceRequestBlock
  readonly introspectionRequest?: ResourceRequestBlock
  /** RFC 7009. Absent: the provider cannot revoke. */
  readonly revocationRequest?: RevocationRequestBlock
  /** `token_type` values accepted besides `Bearer`, in lower case. A missing one is taken as bearer. */
  readonly tokenTypes: readonly string[]
  /** The lifetime in seconds of access tokens of which neither the token response nor an introspection tells one. */
  readonly defaultExpiresIn?: number
  /** Response-map expressions for the account's id and name in the user info, the most trusted first. */
  readonly account: { readonly id: readonly string[]; readonly name: readonly string[] }
  /** What becomes of a refresh token that was used. Absent: unknown. */
  readonly rotation?: Rotation
  /** As `rotation: {kind: 'single_use'}`, in entries that were stored before there was `rotation`. */
  readonly strictRotation?: boolean
  /** Seconds before its expiry from which an access token is refreshed. Default: a tenth of its lifetime, at most 60. */
  readonly refreshMarginSeconds?: number
  /** When refresh tokens expire. What a token response tells comes first. */
  readonly refreshTokenLife?: RefreshTokenLife
  /** Refresh tokens are used before they expire, also those of unused connections. */
  readonly keepAlive?: boolean
  /** Absent: the broker itself sends the user's token to no API. */
  readonly api?: ProviderApi
  /** `true`: clients without a secret are accepted even if `authMethod` needs one. `false`: they are never accepted. */
  readonly publicClients?: boolean
  /** Settings that the issuer's metadata decides, since the entry does not set them. */
  readonly fromIssuer?: readonly IssuerDecides[]
  /** The issuer's metadata has been read at least once. */
  readonly metadataRead?: true
  /** The endpoint that ends a user's session at the server (OpenID Connect RP-Initiated Logout), for callers. */
  readonly endSessionEndpoint?: string
  /** In the provider of one connection: the values of its user, within which alone account ids are unique. */
  readonly accountsWithin?: string
  /** `endpointsDigest` of the endpoints for which an administrator confirmed the client of the environment. */
  readonly environmentClientFor?: string
  /** When the secret expires that the server gave the broker at its registration (RFC 7591 section 3.2.1). */
  readonly clientSecretExpiresAt?: EpochSeconds
}

/** How a browser is taken that comes from the provider's own page. */
export interface InstallationSettings {
  /** Parameters of the query that are kept: name -> the pattern that the whole value must match. */
  readonly hints: Readonly<Record<string, string>>
  /** The parameter with the provider's signature of the query. */
  readonly hmacParameter?: string
  /** The caller's page to which the browser is sent, in place of our own. */
  readonly installUri?: string
}

/** How the service of an entry knows its users: by tokens of OAuth 2 or OAuth 1.0a, or by credentials that people type. */
export type ProviderType = (typeof PROVIDER_TYPES)[number]
export const PROVIDER_TYPES = ['oauth2', 'oauth1', 'credentials'] as const

export function typeOf({ credentials, oauth1 }: Pick<Provider, 'credentials' | 'oauth1'>): ProviderType {
  if (oauth1 !== undefined) return 'oauth1'
  return credentials === undefined ? 'oauth2' : 'credentials'
}

/** Whose connections an entry may have: each user's own, the project's, or both. */
export type ConnectionOwnerKind = (typeof OWNER_KINDS)[number]
export const OWNER_KINDS = ['user', 'project', 'either'] as const

/** A grant other than that of a user's code. */
export type GrantSettings =
  | { readonly type: Exclude<GrantType, 'token_exchange'>; readonly subject?: never }
  | { readonly type: 'token_exchange'; readonly subject: ExchangeSubject }

/** What is exchanged for a token (RFC 8693): a token of the user's connection to another entry of the project. */
export interface ExchangeSubject {
  /** The id of that entry. */
  readonly connection: string
  readonly token: SubjectTokenKind
}

export type SubjectTokenKind = (typeof SUBJECT_TOKENS)[number]
export const SUBJECT_TOKENS = ['access_token', 'id_token'] as const

/**
 * `client_credentials`: RFC 6749 section 4.4. `account_credentials`: the same for one account, which `params` name (Zoom).
 * `jwt_bearer`: RFC 7523 section 2.1. `token_exchange`: RFC 8693. `device_code`: RFC 8628, the user enters a code at the
 * provider. `installation`: a user's code shows which installations of the client are theirs, and the client asks for
 * tokens of the one that they chose (GitHub Apps).
 */
export type GrantType = (typeof GRANT_TYPES)[number]
export const GRANT_TYPES = [
  'client_credentials',
  'account_credentials',
  'jwt_bearer',
  'token_exchange',
  'device_code',
  'installation',
] as const

/** A host or a segment of a path that URL templates of the entry name as `{{name}}`. */
export interface ProviderVariable {
  /** RE2 expression that the whole value must match. */
  readonly pattern: string
  /** The only values that it may have; the pattern says the same. */
  readonly oneOf?: readonly string[]
  /** What people call it: `Subdomain`. */
  readonly label?: string
  /** A value as people would enter it: `acme`. */
  readonly example?: string
  readonly value: string
  /** In a definition: `value` is an example, and who makes an entry of it has to give another. */
  readonly isExample?: true
  /** Each user gives a value, which belongs to the connection; `value` is an example. */
  readonly askUser?: true
  /** No URL names it: it may be any text that its field (`credentials.ts`) or its pattern allows. */
  readonly isText?: true
}

/**
 * `none`: a refresh token may be used again and again. `single_use`: one that is used twice ends the whole grant, access
 * tokens too; so if the outcome of a refresh was lost, the access token is used until it expires before the refresh token
 * is sent again. `grace`: a used one is accepted for some seconds, and after that it is as for `single_use`.
 */
export type Rotation =
  | { readonly kind: 'none' }
  | { readonly kind: 'single_use' }
  | { readonly kind: 'grace'; readonly graceSeconds: number }

export function rotationOf({ rotation, strictRotation }: Pick<Provider, 'rotation' | 'strictRotation'>) {
  return rotation ?? (strictRotation === true ? ({ kind: 'single_use' } as const) : undefined)
}

export interface RefreshTokenLife {
  /** From when it was issued. */
  readonly seconds?: number
  /** From when it was last used. */
  readonly idleSeconds?: number
}

/** Where the provider tells a value, and what the value may be. */
export interface KeptValue {
  /** `choice`: the item of the list of `choicesRequest` that the user chose. */
  readonly from: 'authorization_response' | 'token_response' | 'user_info' | 'choice'
  /** The parameter of the authorization response; else an expression of a response map. */
  readonly at: string
  /** RE2 expression that the whole value must match. */
  readonly pattern: string
  /** The only values that it may have; the pattern says the same. */
  readonly oneOf?: readonly string[]
  /** A value as it may be told. */
  readonly example?: string
}

/** Endpoints by their role, and settings, that an issuer's metadata can fill. */
export type IssuerDecides =
  | EndpointRole
  | 'client_authentication'
  /** How refresh requests authenticate the client: as token requests do. */
  | 'refresh_authentication'
  | 'pkce'
  | 'iss'
  | 'end_session'

/** Where the broker itself may use the user's token: in the proxy, and in tools that are HTTP requests. */
export interface ProviderApi {
  /** The default base URL of requests. Its host is among `hosts`. Absent if each connection has its own. */
  readonly baseUrl?: string
  /** The base URL as it was given, if it names variables or kept values. */
  readonly baseUrlTemplate?: string
  /** In the form of `parseApiHost`. The token is sent to no other host. */
  readonly hosts: readonly string[]
  /** Template of the `Authorization` value; the default is that of RFC 6750. */
  readonly authorization?: string
  /**
   * Templates of further headers by name in lower case, with `{{client_id}}`, `{{access_token}}` and kept values. They
   * replace the caller's. One with the token takes the place of `Authorization` (Shopify's `x-shopify-access-token`).
   */
  readonly headers?: Readonly<Record<string, string>>
}

/** An entry whose users' browsers bring a code. */
export type CodeProvider = Provider & Required<Pick<Provider, 'authorizationRequest' | 'tokenRequest'>>
