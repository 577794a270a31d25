import type { ClientAuthMethod } from './client-auth-method.ts'

// Descriptions of requests to an authorization server, in the shape of Arcade's provider model.

export type ContentType = 'application/x-www-form-urlencoded' | 'application/json'

/** Where a request goes. */
export interface RequestEndpoint {
  /** The URL, with the values of the entry's variables. Its path may name `{{client_id}}`. */
  readonly endpoint: string
  /** `endpoint` as it was given, if it names variables: `https://{{subdomain}}.zendesk.com/oauth/tokens`. */
  readonly endpointTemplate?: string
  /** The server's own names of standard parameters: `{client_id: 'client_key'}` (TikTok). */
  readonly parameterNames?: Readonly<Partial<Record<RenamedParameter, string>>>
}

/** The standard parameters that a request may have under another name. `state` is none: the response repeats it. */
export type RenamedParameter = (typeof RENAMED_PARAMETERS)[number]
export const RENAMED_PARAMETERS = [
  'client_id',
  'client_secret',
  'code',
  'code_challenge',
  'code_challenge_method',
  'code_verifier',
  'grant_type',
  'redirect_uri',
  'refresh_token',
  'response_type',
  'scope',
] as const

export interface RequestBlock extends RequestEndpoint {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly params: Readonly<Record<string, string>>
  /** Templates by the header's name in lower case, with the placeholders of `params`: `notion-version`, `client-id`. */
  readonly headers?: Readonly<Record<string, string>>
  readonly authMethod: ClientAuthMethod
  /** Template of the `Authorization` value for `bearer_access_token`, such as `token {{access_token}}`. */
  readonly authHeaderValueFormat?: string
  readonly requestContentType: ContentType
  /** The expected type of the response; a body that is clearly of the other type is read too. */
  readonly responseContentType: ContentType
  /** Standard member name -> expression (`$.a.b`, `join('$.p','d')`, `jwt_decode('$.tok','$.claim')`). */
  readonly responseMap?: Readonly<Record<string, string>>
  /** Where a response of any status tells an error, beside the RFC's `error`. */
  readonly errorResponse?: ErrorResponse
}

/** Expressions as in a response map, on the response before its map. */
export interface ErrorResponse {
  /** The member that tells whether the request failed: `$.errcode` (WeChat), `$.code` (Feishu). */
  readonly at: string
  /** Its values that mean success, as text: `0`. An absent member means success, too. */
  readonly success: readonly string[]
  /** The server's code of the error; default: the value at `at`. */
  readonly code?: string
  readonly description?: string
  /** The server's codes -> those of RFC 6749 section 5.2. */
  readonly codes?: Readonly<Record<string, StandardErrorCode>>
}

/** The codes that the broker acts on: RFC 6749 sections 4.1.2.1 and 5.2, RFC 8628 section 3.5. */
export type StandardErrorCode = (typeof STANDARD_ERROR_CODES)[number]
export const STANDARD_ERROR_CODES = [
  'invalid_grant',
  'invalid_client',
  'unauthorized_client',
  'invalid_request',
  'invalid_scope',
  'unsupported_grant_type',
  'access_denied',
  'server_error',
  'temporarily_unavailable',
  'slow_down',
  'authorization_pending',
  'expired_token',
] as const

export interface AuthorizationRequestBlock extends RequestEndpoint {
  readonly params: Readonly<Record<string, string>>
  /** After the `#` of the URL: `wechat_redirect` (WeChat). */
  readonly fragment?: string
}

/** What `expires_in` holds, after the response map. `access_token_jwt`: the access token is a JWT, and its `exp` counts. */
export type ExpirationFormat = (typeof EXPIRATION_FORMATS)[number]
export const EXPIRATION_FORMATS = [
  'relative_seconds',
  'relative_milliseconds',
  'absolute_unix_timestamp',
  'iso_8601',
  'access_token_jwt',
] as const

export interface TokenRequestBlock extends RequestBlock {
  readonly expirationFormat?: ExpirationFormat
}

/** It carries the credential as every request to the API does, so it authenticates no client. */
export type TestRequestBlock = RequestBlock

export interface RenewalRequestBlock extends TokenRequestBlock {
  /** A younger access token is not renewed: the provider would refuse. */
  readonly leastAgeSeconds: number
}

/** Its answer lists what the user of the token may choose. */
export interface ListRequestBlock extends RequestBlock {
  /** Expression, as in a response map, of the list. */
  readonly at: string
  /** Expressions within one item of the list. */
  readonly id: string
  readonly name: string
}

/** Its answer lists the installations that the user of the token may use. */
export interface InstallationsRequestBlock extends ListRequestBlock {
  /** What the installation grants: a list of scopes, or an object `{"contents": "read"}`. Absent: not told. */
  readonly scopes?: string
}

/** Its answer lists the tenants of the user of the token: sites, organizations, accounts. */
export interface ChoicesRequestBlock extends ListRequestBlock {
  /** What tells items of the same name apart, such as the address of a site. */
  readonly detail?: string
}

export interface RevocationRequestBlock extends RequestBlock {
  /** The only token that is revoked. Absent: the refresh token, if there is one, and then the access token. */
  readonly revokes?: 'access_token' | 'refresh_token'
  /**
   * The parameter that carries the token, without `token_type_hint`. Absent: those of RFC 7009. Empty: `params`, `headers`
   * or `authMethod` place the token, and one request is sent.
   */
  readonly tokenParameter?: string
}

export interface ResourceRequestBlock extends TokenRequestBlock {
  readonly triggers: { readonly onTokenGrant: boolean; readonly onTokenRefresh: boolean }
}
