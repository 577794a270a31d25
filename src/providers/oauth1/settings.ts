import type { SignatureMethod } from './signature.ts'

/** How an entry signs its requests (RFC 5849). */
export interface OAuth1Settings {
  readonly signatureMethod: SignatureMethod
  /** A template with the entry's variables (NetSuite's account). */
  readonly realm?: string
  /** The server accepts no callback but the registered one, so the state cannot ride in its query. */
  readonly fixedCallback?: true
}

/** What follows an authorization request until its token request: temporary credentials (RFC 5849 section 2.1). */
export interface TemporaryCredentials {
  /** SHA-256 of the token, which the browser brings back. */
  readonly tokenHash: string
  readonly secret: string
}

/** `token_type` of tokens that sign requests; they are never sent as bearer tokens. */
export const OAUTH1_TOKEN_TYPE = 'oauth1'
