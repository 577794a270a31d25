import { type ClientAuth, ClientError, ResponseBodyError } from 'openid-client'
import type { ClientCredentials } from './client-authentication.ts'
import { wordsOf } from './provider-words.ts'

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
