import {
  allowInsecureRequests,
  type ClientAuth,
  ClientError,
  Configuration,
  ResponseBodyError,
} from 'openid-client'
import type { ClientCredentials } from './client-authentication.ts'
import type { RegisteredClient } from './provider-entry.ts'
import { wordsOf } from './provider-words.ts'
import type { RequestBlock } from './request-block.ts'

// How both the client of providers (`oauth-client.ts`) and the client of logins (`login-client.ts`) use openid-client.

/**
 * Accepted signatures of ID tokens where the issuer does not announce its own; `none` is never among them (RFC 8725
 * section 3.1).
 */
export const ID_TOKEN_ALGORITHMS = [
  'RS256',
  'ES256',
  'PS256',
  'EdDSA',
  'Ed25519',
  'RS384',
  'RS512',
  'ES384',
  'ES512',
  'PS384',
  'PS512',
]

/** Replaces openid-client's own methods, whose Basic percent-encodes characters that other clients send unencoded. */
export function clientAuthentication({ authorization, params }: ClientCredentials): ClientAuth {
  return (_server, _client, body, headers) => {
    if (authorization !== undefined) headers.set('authorization', authorization)
    for (const [name, value] of Object.entries(params)) body.set(name, value)
  }
}

/** How the provider, or openid-client, explains the error. `secrets` are removed from the provider's words. */
export function explanationOf(error: unknown, secrets: readonly (string | null | undefined)[]) {
  if (error instanceof ResponseBodyError)
    return { code: error.error, words: wordsOf(error.error_description, secrets) }
  if (!(error instanceof ClientError)) return {}
  const claim = claimIn(error)
  return { claim, message: claim === undefined ? error.message : `${error.message}: the claim "${claim}"` }
}

/** The name of the ID token's claim that was wrong or missing; its value stays out of messages. */
function claimIn(error: Error): string | undefined {
  let current: unknown = error
  for (let depth = 0; depth < 4 && typeof current === 'object' && current !== null; depth++) {
    const { claim, message, cause } = current as Record<'claim' | 'message' | 'cause', unknown> // any object may be thrown
    if (typeof claim === 'string' && /^[\w-]{1,40}$/.test(claim)) return claim
    const named = typeof message === 'string' ? /"([\w-]{1,40})" \(/.exec(message) : null
    if (named !== null) return named[1]
    current = cause
  }
  return undefined
}

/** openid-client for requests of this block, with the client's credentials for one of them. */
export function configure(
  { provider, client }: RegisteredClient,
  block: RequestBlock,
  credentials: ClientCredentials,
  authorizationEndpoint?: string,
) {
  const config = new Configuration(
    {
      issuer: provider.issuer ?? new URL(authorizationEndpoint ?? block.endpoint).origin,
      authorization_endpoint:
        authorizationEndpoint ?? provider.authorizationRequest?.endpoint ?? block.endpoint,
      token_endpoint: block.endpoint,
      pushed_authorization_request_endpoint: block.endpoint,
      device_authorization_endpoint: block.endpoint,
      revocation_endpoint: block.endpoint,
      id_token_signing_alg_values_supported: ID_TOKEN_ALGORITHMS,
    },
    client.clientId,
    {},
    clientAuthentication(credentials),
  )
  // the guarded client decides which hosts may be reached, and which of them by plain http
  allowInsecureRequests(config)
  return config
}

/** Parameters of a token request that are kept out of every message, even if the provider repeats them. */
const SENT_SECRETS = [
  'code',
  'code_verifier',
  'device_code',
  'refresh_token',
  'client_secret',
  'client_assertion',
  'assertion',
  'subject_token',
]

/** The secrets in the body of a request. */
export function secretsIn(body: unknown): string[] {
  const sent = new URLSearchParams(typeof body === 'string' || body instanceof URLSearchParams ? body : '')
  return SENT_SECRETS.flatMap((name) => sent.getAll(name))
}
