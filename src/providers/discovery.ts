import { LRUCache } from 'lru-cache'
import type { Clock, EpochSeconds } from '../domain/clock.ts'
import { type AllowsHttp, endpointFault } from '../egress/endpoint.ts'
import type { Outgoing } from '../egress/outgoing.ts'
import { ProviderRefusal } from './provider-refusal.ts'
import type { Members } from './response-body.ts'
import { readFirstWellKnown, readWellKnown } from './well-known.ts'

/** The members of an authorization server's metadata that are used (RFC 8414 section 2, OpenID Connect Discovery section 3). */
export interface ServerMetadata {
  readonly issuer: string
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  /** RFC 9126 section 5. */
  readonly pushed_authorization_request_endpoint?: string
  readonly require_pushed_authorization_requests?: boolean
  /** RFC 8628 section 4. */
  readonly device_authorization_endpoint?: string
  /** RFC 9101 section 10.5. */
  readonly require_signed_request_object?: boolean
  readonly userinfo_endpoint?: string
  readonly jwks_uri?: string
  readonly token_endpoint_auth_methods_supported?: readonly string[]
  readonly id_token_signing_alg_values_supported?: readonly string[]
  /** RFC 9449 section 5.1. */
  readonly dpop_signing_alg_values_supported?: readonly string[]
  readonly authorization_response_iss_parameter_supported?: boolean
  readonly revocation_endpoint?: string
  readonly introspection_endpoint?: string
  readonly end_session_endpoint?: string
  /** RFC 7591. */
  readonly registration_endpoint?: string
  readonly scopes_supported?: readonly string[]
  /** RFC 7636. Absent: the server does not announce PKCE. */
  readonly code_challenge_methods_supported?: readonly string[]
  /** Whether the URL of a client ID metadata document is accepted as client id (draft-ietf-oauth-client-id-metadata-document). */
  readonly client_id_metadata_document_supported?: boolean
}

/** Reads the metadata of an issuer. Throws `ProviderRefusal`, whose message names the issuer and the fault. */
export type Discover = (issuer: string) => Promise<ServerMetadata>

const KEPT_SECONDS = 600
const MAX_KEPT = 100
const WELL_KNOWN = '/.well-known/'

/**
 * Reads metadata by the guarded client and caches it for ten minutes; concurrent callers share one request. Failures are
 * not cached. While the metadata is cached, every caller gets the same object, so the issuer's keys are cached with it.
 */
export function createDiscovery(outgoing: Outgoing, now: Clock): Discover {
  const kept = new LRUCache<
    string,
    { readonly until: EpochSeconds; readonly metadata: Promise<ServerMetadata> }
  >({ max: MAX_KEPT })
  return (issuer) => {
    const known = kept.get(issuer)
    if (known !== undefined && now() < known.until) return known.metadata
    const metadata = discover(outgoing, issuer).catch((error: unknown) => {
      if (kept.peek(issuer)?.metadata === metadata) kept.delete(issuer)
      throw error
    })
    kept.set(issuer, { until: now() + KEPT_SECONDS, metadata })
    return metadata
  }
}

async function discover(outgoing: Outgoing, issuer: string): Promise<ServerMetadata> {
  const found = await readFirstWellKnown(outgoing, metadataUrls(issuer), {
    of: issuer,
    nothing: ['redirected'],
  })
  if (typeof found !== 'string') return toMetadata(found, issuer, (url) => outgoing.allows(url))
  throw new ProviderRefusal('provider_bad_response', `${issuer} has no metadata at ${found}.`)
}

/**
 * OpenID Connect appends the well-known part to the issuer's path; RFC 8414 section 3.1 inserts it between host and path,
 * and some servers do that with OpenID's name too (RFC 8414 section 5).
 */
function metadataUrls(issuer: string): URL[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  return [
    new URL(`${origin}${path}${WELL_KNOWN}openid-configuration`),
    new URL(`${origin}${WELL_KNOWN}oauth-authorization-server${path}`),
    ...(path === '' ? [] : [new URL(`${origin}${WELL_KNOWN}openid-configuration${path}`)]),
  ]
}

/**
 * The authorization server of an MCP server without metadata of its own, by MCP 2025-03-26 (basic/authorization section
 * 2.3): the metadata at its origin, or else `/authorize`, `/token` and `/register` there, without an issuer. Metadata that
 * names an issuer at another origin is accepted only as that issuer's own metadata. Throws `ProviderRefusal`.
 */
export async function discoverAtOrigin(
  outgoing: Outgoing,
  discover: Discover,
  { origin, host }: URL,
): Promise<{ readonly metadata: ServerMetadata; readonly isGuessed: boolean }> {
  const place = new URL(`${origin}${WELL_KNOWN}oauth-authorization-server`)
  const members = await readWellKnown(outgoing, place, { of: host, nothing: ['redirected'] })
  if (members === undefined) return { metadata: usualEndpoints(origin), isGuessed: true }
  const { issuer } = members
  const isHere = typeof issuer === 'string' && URL.parse(issuer)?.origin === origin
  const allowsHttp = (url: URL) => outgoing.allows(url)
  if (isHere) return { metadata: toMetadata(members, issuer, allowsHttp), isGuessed: false }
  const fault = typeof issuer === 'string' ? endpointFault(issuer, allowsHttp) : 'is not text'
  if (fault !== undefined)
    throw new ProviderRefusal(
      'provider_bad_response',
      `The metadata of ${host} cannot be used: its issuer ${fault}.`,
    )
  return { metadata: await discover(String(issuer)), isGuessed: false }
}

function usualEndpoints(origin: string): ServerMetadata {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    // that revision requires PKCE of all clients
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_post'],
  }
}

/** Checks that the issuer is exactly the requested one (RFC 8414 section 3.3), and every endpoint. */
function toMetadata(members: Members, issuer: string, allowsHttp: AllowsHttp): ServerMetadata {
  const unusable = (what: string) =>
    new ProviderRefusal('provider_bad_response', `The metadata of ${issuer} cannot be used: ${what}.`)
  if (members.issuer !== issuer)
    throw unusable(`it is of the issuer ${JSON.stringify(members.issuer ?? null).slice(0, 200)}`)
  const endpoint = (name: string): string | undefined => {
    const value = members[name]
    if (value === undefined || value === null) return undefined
    const fault = typeof value === 'string' ? endpointFault(value, allowsHttp) : 'is not text'
    if (fault !== undefined) throw unusable(`its ${name} ${fault}`)
    return String(value)
  }
  const required = (name: string): string => {
    const value = endpoint(name)
    if (value === undefined) throw unusable(`it has no ${name}`)
    return value
  }
  const list = (name: string) => {
    const value = members[name]
    return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : undefined
  }
  return {
    issuer,
    authorization_endpoint: required('authorization_endpoint'),
    token_endpoint: required('token_endpoint'),
    ...withoutAbsent({
      pushed_authorization_request_endpoint: endpoint('pushed_authorization_request_endpoint'),
      device_authorization_endpoint: endpoint('device_authorization_endpoint'),
      userinfo_endpoint: endpoint('userinfo_endpoint'),
      jwks_uri: endpoint('jwks_uri'),
      revocation_endpoint: endpoint('revocation_endpoint'),
      introspection_endpoint: endpoint('introspection_endpoint'),
      end_session_endpoint: endpoint('end_session_endpoint'),
      registration_endpoint: endpoint('registration_endpoint'),
      scopes_supported: list('scopes_supported'),
      code_challenge_methods_supported: list('code_challenge_methods_supported'),
      token_endpoint_auth_methods_supported: list('token_endpoint_auth_methods_supported'),
      id_token_signing_alg_values_supported: list('id_token_signing_alg_values_supported'),
      dpop_signing_alg_values_supported: list('dpop_signing_alg_values_supported'),
    }),
    require_signed_request_object: members.require_signed_request_object === true,
    require_pushed_authorization_requests: members.require_pushed_authorization_requests === true,
    authorization_response_iss_parameter_supported:
      members.authorization_response_iss_parameter_supported === true,
    client_id_metadata_document_supported: members.client_id_metadata_document_supported === true,
  }
}

function withoutAbsent<T extends object>(record: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const present = Object.entries(record).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present) as { [K in keyof T]?: Exclude<T[K], undefined> } // only fewer members
}

/**
 * How a client sends its secret: in the body if the metadata lists that and not Basic, else by Basic, which is the
 * default of metadata without a list (RFC 8414 section 2).
 */
export function secretAuthMethod({
  token_endpoint_auth_methods_supported: methods,
}: ServerMetadata): 'client_secret_basic' | 'client_secret_post' {
  const posts = methods?.includes('client_secret_basic') === false && methods.includes('client_secret_post')
  return posts ? 'client_secret_post' : 'client_secret_basic'
}
