/**
 * How a request authenticates the client, or carries the token. `client_secret_basic` and `client_secret_post` are those
 * of RFC 6749 section 2.3.1; `client_secret_basic_unencoded` is Basic (RFC 7617) for servers that do not decode the id
 * and the secret; `none` leaves it to `params`; `bearer_access_token` is RFC 6750 section 2.1. For those of `KeyMethod` the
 * entry's client secret is a key, which never leaves the broker.
 */
export type ClientAuthMethod =
  | 'client_secret_basic'
  | 'client_secret_basic_unencoded'
  | 'client_secret_post'
  | 'none'
  | 'bearer_access_token'
  | KeyMethod

/**
 * `private_key_jwt` and `client_secret_jwt` are those of OpenID Connect Core section 9 (RFC 7523); with
 * `signed_client_secret` the same JWT is sent as `client_secret` (Apple). `tls_client_auth` is RFC 8705 section 2: the
 * client secret is the certificate, its chain and its key, in PEM.
 */
export type KeyMethod = (typeof KEY_METHODS)[number]
export const KEY_METHODS = [
  'private_key_jwt',
  'client_secret_jwt',
  'signed_client_secret',
  'tls_client_auth',
] as const

/** `keyId`, `issuer`, `subject` and `audience` are templates with `{{client_id}}` and the entry's variables. */
export interface ClientAssertion {
  readonly algorithm: AssertionAlgorithm
  /** `kid` of the JWT's header. */
  readonly keyId?: string
  /** Default: the client id, as for `subject`. */
  readonly issuer?: string
  readonly subject?: string
  /** Default: the entry's issuer, else the token endpoint. */
  readonly audience?: string
  readonly lifetimeSeconds: number
}

/** `subject` and the texts of `claims` may also name `{{user_id}}` and `{{scopes}}`, as `grant-assertion.ts` says. */
export interface GrantAssertion extends ClientAssertion {
  /** Further claims; a text is a template. */
  readonly claims?: Readonly<Record<string, string | number | boolean>>
}

/** What differs from the client's assertion; the key is the same. */
export interface RequestObject {
  readonly algorithm?: AssertionAlgorithm
  /** `kid` of the JWT's header, a template as in `ClientAssertion`. */
  readonly keyId?: string
}

/** Signature algorithms of RFC 7518 section 3.1 and RFC 8037. */
export type AssertionAlgorithm = (typeof ASSERTION_ALGORITHMS)[number]
export const ASSERTION_ALGORITHMS = [
  'ES256',
  'ES384',
  'ES512',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'EdDSA',
  'HS256',
  'HS384',
  'HS512',
] as const
