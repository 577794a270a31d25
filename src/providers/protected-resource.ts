import { endpointFault } from '../egress/endpoint.ts'
import type { Outgoing } from '../egress/outgoing.ts'
import { ProviderRefusal } from './provider-refusal.ts'
import type { Members } from './response-body.ts'
import { readWellKnown } from './well-known.ts'

/** What a protected resource says about itself (RFC 9728 section 2), as far as it is used. */
export interface ProtectedResource {
  /** The `resource` that its tokens are for (RFC 8707): as the document writes it. */
  readonly resource: string
  /** Issuers, the preferred one first. */
  readonly authorizationServers: readonly string[]
  readonly scopesSupported?: readonly string[]
}

/** What a refusal asks for (RFC 6750 section 3, RFC 9728 section 5.1). */
export interface Challenge {
  readonly error?: string
  readonly scopes?: readonly string[]
  readonly resourceMetadata?: string
}

/** Nothing stands at any of the places where a protected resource says what it wants. */
export class NoResourceMetadata extends ProviderRefusal {
  constructor(server: URL, places: readonly URL[]) {
    const all = places.map(({ href }) => href).join(' nor at ')
    super('provider_bad_response', `${server.host} wants OAuth but has no metadata (RFC 9728) at ${all}.`)
  }
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const MAX_SCOPES = 100
const MAX_CHALLENGE = 4096

/** The Bearer challenge of a `WWW-Authenticate` field, whatever other schemes stand beside it. */
export function bearerChallenge(field: string | undefined): Challenge {
  const said =
    field === undefined ? null : /(?:^|,)\s*Bearer(?:\s+(.*))?$/is.exec(field.slice(0, MAX_CHALLENGE))
  const members = new Map<string, string>()
  for (const [, name = '', quoted, plain] of (said?.[1] ?? '').matchAll(PARAMETER)) {
    const key = name.toLowerCase()
    if (!members.has(key)) members.set(key, quoted?.replaceAll(/\\(.)/g, '$1') ?? plain ?? '')
  }
  const [error, scope, resourceMetadata] = ['error', 'scope', 'resource_metadata'].map((one) =>
    members.get(one),
  )
  return {
    ...(error !== undefined && { error }),
    ...(scope !== undefined && { scopes: readScopes(scope.split(' ')) }),
    ...(resourceMetadata !== undefined && { resourceMetadata }),
  }
}

const PARAMETER = /([A-Za-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/g

/**
 * The metadata of what is served at that URL: where its refusal says, on the same origin, else at the well-known places
 * of its path and of its origin (section 3.1). Its `resource` must be the URL or what the URL lies beneath on the same
 * origin: a token for anything else would be good elsewhere (section 7.3). Throws `ProviderRefusal`;
 * where there is no metadata at all, `NoResourceMetadata`.
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
  for (const place of places) {
    const members = await readWellKnown(outgoing, place, {
      of: place.host,
      nothing: ['redirected', 'too_large'],
    })
    if (members !== undefined) return read(members, server, outgoing)
  }
  throw new NoResourceMetadata(server, places)
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
      typeof issuer === 'string' ? endpointFault(issuer, (url) => outgoing.allows(url)) : 'is no text'
    if (fault !== undefined) throw unusable(`an authorization server of it ${fault}`)
  }
  return {
    resource,
    authorizationServers: servers.map(String),
    ...(Array.isArray(scopes) && { scopesSupported: readScopes(scopes) }),
  }
}

/** Whether the URL is the resource or lies beneath it; a template's braces would be read as a placeholder. */
function isResourceOf(resource: string, server: URL): boolean {
  const url = URL.parse(resource)
  if (url === null || url.origin !== server.origin || url.search !== '' || /[#\s{}]/.test(resource))
    return false
  const base = url.pathname.endsWith('/') ? url.pathname : `${url.pathname}/`
  return `${server.pathname.replace(/\/$/, '')}/`.startsWith(base)
}

/** Scope tokens (RFC 6749 section 3.3); what is none is dropped. */
function readScopes(values: readonly unknown[]): string[] {
  const scopes = values.filter(
    (one) => typeof one === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]{1,500}$/.test(one),
  )
  return [...new Set(scopes)].map(String).slice(0, MAX_SCOPES)
}
