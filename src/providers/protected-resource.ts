import { endpointFault } from '../egress/endpoint.ts'
import type { Outgoing } from '../egress/outgoing.ts'
import { ProviderRefusal } from './provider-refusal.ts'
import type { Members } from './response-body.ts'
import { readFirstWellKnown } from './well-known.ts'

/** The members of a protected resource's metadata that are used (RFC 9728 section 2). */
export interface ProtectedResource {
  /** The `resource` of its tokens (RFC 8707), exactly as in the document. */
  readonly resource: string
  /** Issuers, the preferred one first. */
  readonly authorizationServers: readonly string[]
  readonly scopesSupported?: readonly string[]
}

/** The challenge of a refusal (RFC 6750 section 3, RFC 9728 section 5.1). */
export interface Challenge {
  readonly error?: string | undefined
  readonly scopes?: readonly string[]
  readonly resourceMetadata?: string | undefined
}

/** The resource has metadata at none of the well-known places. */
export class NoResourceMetadata extends ProviderRefusal {
  /** `tried`: the places, with what each answered. */
  constructor(server: URL, tried: string) {
    super('provider_bad_response', `${server.host} wants OAuth but has no metadata (RFC 9728) at ${tried}.`)
  }
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const MAX_SCOPES = 100
const MAX_CHALLENGE = 4096

/** The Bearer challenge of a `WWW-Authenticate` field, which may have challenges of other schemes too. */
export function bearerChallenge(field: string | undefined): Challenge {
  const said =
    field === undefined ? null : /(?:^|,)\s*Bearer(?:\s+(.*))?$/is.exec(field.slice(0, MAX_CHALLENGE))
  const members = new Map<string, string>()
  for (const [, name = '', quoted, plain] of (said?.[1] ?? '').matchAll(PARAMETER)) {
    const key = name.toLowerCase()
    if (!members.has(key)) members.set(key, quoted?.replaceAll(/\\(.)/g, '$1') ?? plain ?? '')
  }
  const [error, scope, resourceMetadata] = ['error', 'scope', 'resource_metadata'].map((member) =>
    members.get(member),
  )
  return { error, ...(scope !== undefined && { scopes: readScopes(scope.split(' ')) }), resourceMetadata }
}

const PARAMETER = /([A-Za-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/g

/**
 * Reads the metadata of the resource at the URL: from the address in its refusal, on the same origin, or else from the
 * well-known places of its path and of its origin (section 3.1). Its `resource` must be the URL or a parent of it on the
 * same origin, since a token for another resource could be used there (section 7.3). Throws `ProviderRefusal`, or
 * `NoResourceMetadata` when there is no metadata.
 */
export async function discoverProtectedResource(
  outgoing: Outgoing,
  server: URL,
  { resourceMetadata }: Pick<Challenge, 'resourceMetadata'>,
): Promise<ProtectedResource> {
  const said = resourceMetadata === undefined ? undefined : URL.parse(resourceMetadata)
  if (said != null && said.origin !== server.origin)
    throw new ProviderRefusal(
      'provider_bad_response',
      `${server.host} keeps its metadata at another host (${said.host}), which is not followed.`,
    )
  const path = server.pathname.replace(/\/$/, '')
  const places = [
    ...(said == null ? [] : [said]),
    ...(path === '' ? [] : [new URL(`${server.origin}${WELL_KNOWN}${path}`)]),
    new URL(`${server.origin}${WELL_KNOWN}`),
  ]
  const found = await readFirstWellKnown(outgoing, places, {
    of: server.host,
    nothing: ['redirected', 'too_large'],
  })
  if (typeof found === 'string') throw new NoResourceMetadata(server, found)
  return read(found, server, outgoing)
}

function read(members: Members, server: URL, outgoing: Outgoing): ProtectedResource {
  const unusable = (what: string) =>
    new ProviderRefusal(
      'provider_bad_response',
      `The protected resource metadata of ${server.host} cannot be used: ${what}.`,
    )
  const { resource, authorization_servers: servers, scopes_supported: scopes } = members
  if (typeof resource !== 'string' || !isResourceOf(resource, server))
    throw unusable(`it is of the resource ${JSON.stringify(resource ?? null).slice(0, 200)}`)
  if (!Array.isArray(servers) || servers.length === 0) throw unusable('it names no authorization server')
  for (const issuer of servers) {
    const fault =
      typeof issuer === 'string' ? endpointFault(issuer, (url) => outgoing.allows(url)) : 'is not text'
    if (fault !== undefined) throw unusable(`an authorization server of it ${fault}`)
  }
  return {
    resource,
    authorizationServers: servers.map(String),
    ...(Array.isArray(scopes) && { scopesSupported: readScopes(scopes) }),
  }
}

/** Whether the resource is the URL or a parent of it. Braces are refused, since templates read them as placeholders. */
function isResourceOf(resource: string, server: URL): boolean {
  const url = URL.parse(resource)
  if (url === null || url.origin !== server.origin || url.search !== '' || /[#\s{}]/.test(resource))
    return false
  const base = url.pathname.endsWith('/') ? url.pathname : `${url.pathname}/`
  return `${server.pathname.replace(/\/$/, '')}/`.startsWith(base)
}

/** The valid scope tokens (RFC 6749 section 3.3); other values are dropped. */
function readScopes(values: readonly unknown[]): string[] {
  const scopes = values.filter(
    (value) => typeof value === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]{1,500}$/.test(value),
  )
  return [...new Set(scopes)].map(String).slice(0, MAX_SCOPES)
}
