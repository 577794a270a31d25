import { isLoopbackHost } from '../../domain/confidential-url.ts'

/** String members that are copied. Members that this file does not name are ignored (RFC 7591 section 2). */
const COPIED_MEMBERS = [
  'client_uri',
  'token_endpoint_auth_method',
  'token_endpoint_auth_signing_alg',
  'jwks_uri',
] as const
const GRANT_TYPES = ['authorization_code', 'refresh_token']
const MAX_REDIRECT_URIS = 20
const MAX_URI_LENGTH = 2_000
const MAX_NAME_LENGTH = 200

/** Client metadata that cannot be accepted: RFC 7591 section 3.2.2. */
export class ClientMetadataFault extends Error {
  readonly code: 'invalid_redirect_uri' | 'invalid_client_metadata'

  constructor(code: ClientMetadataFault['code'], message: string) {
    super(message)
    this.name = 'ClientMetadataFault'
    this.code = code
  }
}

type Members = Readonly<Record<string, unknown>>

/**
 * Converts the metadata of a client, from a registration or from the client's own document, to what oidc-provider
 * accepts. MCP clients omit the application type and list redirect URIs of several kinds in one registration. Grant
 * types and scopes that this server does not offer are left out. Throws `ClientMetadataFault`.
 */
export function clientMetadata(given: unknown): Members {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new ClientMetadataFault('invalid_client_metadata', 'The client metadata must be a JSON object.')
  const members = given as Members // an object, whose members are checked below
  const redirectUris = checkedRedirectUris(members.redirect_uris)
  const grantTypes = textsIn(members.grant_types).filter((grantType) => GRANT_TYPES.includes(grantType))
  const name = readName(members.client_name)
  const picked = Object.fromEntries(
    COPIED_MEMBERS.map((member) => [member, text(members[member])]).filter(
      ([, value]) => value !== undefined,
    ),
  )
  return {
    ...picked,
    ...(members.jwks !== undefined && { jwks: checkedKeys(members.jwks) }),
    ...(name !== undefined && { client_name: name }),
    redirect_uris: redirectUris,
    // oidc-provider permits a private scheme only for the type `native`
    application_type: redirectUris.every((uri) => new URL(uri).protocol === 'https:') ? 'web' : 'native',
    grant_types: grantTypes.includes('authorization_code')
      ? grantTypes
      : ['authorization_code', ...grantTypes],
    response_types: ['code'],
  }
}

/**
 * The metadata of a dynamic registration (RFC 7591). Clients that ask for a secret become public clients: PKCE protects
 * their codes, and an installed program cannot keep a secret.
 */
export function registrationMetadata(given: unknown): Members {
  const members = clientMetadata(given)
  const method = members.token_endpoint_auth_method === 'private_key_jwt' ? 'private_key_jwt' : 'none'
  return { ...members, token_endpoint_auth_method: method }
}

const MAX_KEYS = 10
/** RSA keys of 4,096 bits in base64url, and the longest exponent. Larger ones cost a verification milliseconds. */
const MAX_MODULUS_LENGTH = 683
const MAX_EXPONENT_LENGTH = 6

/** The keys of a client (RFC 7517), which verify its assertions. Throws `ClientMetadataFault` for too many or too large ones. */
export function checkedKeys(jwks: unknown): unknown {
  const keys: unknown = typeof jwks === 'object' && jwks !== null && 'keys' in jwks ? jwks.keys : []
  const isTooMuch =
    !Array.isArray(keys) ||
    keys.length > MAX_KEYS ||
    keys.some(
      (key) =>
        String(key?.n ?? '').length > MAX_MODULUS_LENGTH || String(key?.e ?? '').length > MAX_EXPONENT_LENGTH,
    )
  if (!isTooMuch) return jwks
  throw new ClientMetadataFault(
    'invalid_client_metadata',
    `A client may have at most ${MAX_KEYS} keys, and RSA keys of at most 4096 bits with a short exponent.`,
  )
}

function checkedRedirectUris(given: unknown): readonly string[] {
  const uris = textsIn(given)
  if (uris.length === 0)
    throw new ClientMetadataFault('invalid_redirect_uri', 'redirect_uris must have at least one URI.')
  if (uris.length > MAX_REDIRECT_URIS)
    throw new ClientMetadataFault(
      'invalid_redirect_uri',
      `redirect_uris may have at most ${MAX_REDIRECT_URIS} URIs.`,
    )
  for (const uri of uris) {
    const fault = redirectUriFault(uri)
    if (fault !== undefined) throw new ClientMetadataFault('invalid_redirect_uri', fault)
  }
  return [...new Set(uris)]
}

/** Schemes that a browser or the operating system handles itself instead of opening the client's application. */
const DANGEROUS_SCHEMES = new RegExp(
  `^(?:${[
    'javascript|vbscript|data|blob|file|filesystem|about|view-source|chrome|edge|resource|res',
    'ws|wss|ftp|sftp|ssh|telnet|ldap|ldaps|nfs|smb|mailto|tel|sms',
    'intent|android-app|itms-services|ms-[a-z0-9+.-]+|search|search-ms|shell',
  ].join('|')}):$`,
)

/** Why the URI cannot be a redirect URI; `undefined` when it can. */
function redirectUriFault(uri: string): string | undefined {
  if (uri.length > MAX_URI_LENGTH) return `A redirect URI may have at most ${MAX_URI_LENGTH} characters.`
  const url = URL.canParse(uri) ? new URL(uri) : undefined
  if (url === undefined || /[\s\\]/.test(uri)) return 'A redirect URI must be an absolute URI.'
  if (uri.includes('#')) return 'A redirect URI must have no fragment.'
  if (url.username !== '' || url.password !== '') return 'A redirect URI must have no credentials.'
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    return 'A redirect URI with the scheme http must lead to the loopback interface; use https.'
  if (DANGEROUS_SCHEMES.test(url.protocol)) return 'A redirect URI must not have this scheme.'
  return undefined
}

/**
 * Whether the client registered this redirect URI. URIs are compared as exact strings (RFC 9700 section 2.1), except
 * that a loopback URI may have any port, since a native client listens on a free port (RFC 8252 section 7.3).
 */
export function isRegisteredRedirectUri(uri: unknown, registered: readonly string[]): boolean {
  if (typeof uri !== 'string' || redirectUriFault(uri) !== undefined) return false
  if (registered.includes(uri)) return true
  const portless = withoutLoopbackPort(uri)
  return portless !== undefined && registered.some((candidate) => withoutLoopbackPort(candidate) === portless)
}

/** The loopback redirect URI without its port: one approval counts for every port. `undefined` for other URIs. */
export function withoutLoopbackPort(uri: string): string | undefined {
  const [, scheme, host, rest = ''] =
    /^(http):\/\/(localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?([/?].*)?$/.exec(uri) ?? []
  return scheme === undefined ? undefined : `${scheme}://${host}${rest}`
}

/** The name without invisible characters, which could disguise it, and shortened; `undefined` if nothing is left. */
function readName(value: unknown): string | undefined {
  const visible = text(value)?.replaceAll(/\p{C}/gu, '').trim()
  return text([...(visible ?? '')].slice(0, MAX_NAME_LENGTH).join(''))
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : []
}
