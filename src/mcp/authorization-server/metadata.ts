import { MCP_SCOPES } from '../callers/principal.ts'
import { PATHS } from './paths.ts'

export const AUTH_METHODS = ['none', 'private_key_jwt'] as const
/** The signature algorithms for `private_key_jwt`. */
export const CLIENT_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'Ed25519', 'EdDSA'] as const

interface MetadataOptions {
  /** Whether clients may register themselves. */
  readonly registers: boolean
  /** Whether a client id may be the URL of a metadata document. */
  readonly readsDocuments: boolean
}

/** The metadata of the authorization server (RFC 8414 section 2). */
export function serverMetadata({ origin }: URL, { registers, readsDocuments }: MetadataOptions) {
  const at = (path: string) => `${origin}${path}`
  return {
    issuer: origin,
    authorization_endpoint: at(PATHS.authorization),
    token_endpoint: at(PATHS.token),
    ...(registers && { registration_endpoint: at(PATHS.registration) }),
    revocation_endpoint: at(PATHS.revocation),
    jwks_uri: at(PATHS.jwks),
    scopes_supported: MCP_SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: AUTH_METHODS,
    token_endpoint_auth_signing_alg_values_supported: CLIENT_ALGORITHMS,
    revocation_endpoint_auth_methods_supported: AUTH_METHODS,
    revocation_endpoint_auth_signing_alg_values_supported: CLIENT_ALGORITHMS,
    authorization_response_iss_parameter_supported: true,
    ...(readsDocuments && { client_id_metadata_document_supported: true }),
  }
}

/** The metadata for clients that read the document of OpenID Connect Discovery, with the members that it requires. */
export function openidConfiguration(publicUrl: URL, options: MetadataOptions) {
  return {
    ...serverMetadata(publicUrl, options),
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  }
}
