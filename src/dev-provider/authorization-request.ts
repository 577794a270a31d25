import { splitScope } from '../domain/scopes.ts'
import { SANDBOX_CLIENT_ID } from './client.ts'
import { readParameters } from './parameters.ts'
import { DEFAULT_SCOPE, SCOPES } from './scopes.ts'

/** A valid authorization request (RFC 6749 section 4.1.1, RFC 7636 section 4.3). */
export interface AuthorizationRequest {
  readonly redirectUri: string
  readonly state?: string
  readonly scopes: readonly string[]
  readonly codeChallenge: string
}

export type AuthorizationRequestReading =
  | { readonly outcome: 'good'; readonly request: AuthorizationRequest }
  /** The client or redirect URI is wrong, so the browser must not be redirected (RFC 6749 section 4.1.2.1). */
  | { readonly outcome: 'unknown_client'; readonly message: string }
  /** The error is sent to the client by a redirect. */
  | {
      readonly outcome: 'refused'
      readonly redirectUri: string
      readonly answer: Readonly<Record<string, string>>
    }

/** A SHA-256 in base64url. */
const CODE_CHALLENGE = /^[A-Za-z0-9_-]{43}$/

/** Validates an authorization request. Every redirect URI must begin with `callbacks`. */
export function readAuthorizationRequest(
  query: URLSearchParams,
  callbacks: URL,
): AuthorizationRequestReading {
  const { values, repeated } = readParameters(query)
  const redirectUri = values.redirect_uri
  if (repeated === 'client_id' || values.client_id !== SANDBOX_CLIENT_ID)
    return unknownClient(`The client_id is not ${SANDBOX_CLIENT_ID}, the one client that is registered here.`)
  if (redirectUri === undefined || repeated === 'redirect_uri' || !isBelow(callbacks, redirectUri))
    return unknownClient(`The redirect_uri does not begin with ${callbacks.href}.`)

  const { state } = repeated === 'state' ? {} : values
  const refuse = (error: string, error_description: string): AuthorizationRequestReading => ({
    outcome: 'refused',
    redirectUri,
    answer: { error, error_description, ...(state !== undefined && { state }) },
  })
  if (repeated !== undefined) return refuse('invalid_request', 'A parameter is repeated.')
  if (values.response_type === undefined) return refuse('invalid_request', 'response_type is missing.')
  if (values.response_type !== 'code')
    return refuse('unsupported_response_type', 'response_type has to be code.')
  if (values.code_challenge_method !== 'S256')
    return refuse('invalid_request', 'code_challenge_method has to be S256.')
  const { code_challenge: codeChallenge = '' } = values
  if (!CODE_CHALLENGE.test(codeChallenge))
    return refuse('invalid_request', 'code_challenge is missing or not a SHA-256 in base64url.')
  const scopes = [...new Set(splitScope(values.scope ?? DEFAULT_SCOPE))]
  if (!scopes.every((scope) => Object.hasOwn(SCOPES, scope)))
    return refuse('invalid_scope', `The scopes here are ${Object.keys(SCOPES).join(' and ')}.`)
  return {
    outcome: 'good',
    request: { redirectUri, ...(state !== undefined && { state }), scopes, codeChallenge },
  }
}

function unknownClient(message: string): AuthorizationRequestReading {
  return { outcome: 'unknown_client', message }
}

/** Only URIs in normalized form pass, so that no browser can read them differently. */
function isBelow(callbacks: URL, redirectUri: string): boolean {
  const isPlain = URL.parse(redirectUri)?.href === redirectUri && !redirectUri.includes('#')
  return isPlain && redirectUri.startsWith(callbacks.href)
}
