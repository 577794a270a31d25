import { createHash } from 'node:crypto'
import { catalogueOf } from './catalogue/registry.ts'
import { type EndpointRole, endpointsOf, type Provider } from './provider.ts'

/**
 * Whose codes and tokens an entry's are, as one comparable value: its client, and each of its endpoints by its role. In
 * place of endpoints that an issuer's checked metadata names stands the issuer; in place of endpoints of a provider in
 * the catalogue its id and the values of its variables, so that a new version of a path costs nobody a consent.
 */
export function identityOf(provider: Provider, clientId: string | undefined): string {
  const fromIssuer = new Set<string>(provider.fromIssuer)
  const known = fromIssuer.has('authorization') || fromIssuer.has('token') ? undefined : catalogueOf(provider)
  const others = Object.entries(endpointsOf(provider)).filter(
    ([role, endpoint]) => !fromIssuer.has(role) && known?.has(role as EndpointRole, endpoint) !== true,
  )
  const { issuer } = provider
  return versioned([
    clientId ?? '',
    known === undefined ? null : [known.builtIn.id, sorted(known.variables)],
    issuer === undefined || issuer === known?.builtIn.provider.issuer ? null : issuer,
    others.sort(([one], [other]) => (one < other ? -1 : 1)),
  ])
}

/**
 * Identities under which connections of the same client at the very same endpoints may be stored: by the endpoints
 * alone, from before the catalogue knew them, and by the rule of version 0.1.0, the set of hosts.
 */
export function formerIdentitiesOf(provider: Provider, clientId: string | undefined): readonly string[] {
  const endpoints = Object.entries(endpointsOf(provider)).sort(([one], [other]) => (one < other ? -1 : 1))
  const byEndpoints = versioned([clientId ?? '', null, provider.issuer ?? null, endpoints])
  return [byEndpoints, identityByHosts(provider, clientId)]
}

/** Of the endpoints alone, whatever the client: what an administrator confirms for a client of the environment. */
export function endpointsDigest(provider: Provider): string {
  return identityOf(provider, undefined)
}

function identityByHosts(provider: Provider, clientId: string | undefined): string {
  const hosts = [
    provider.authorizationRequest,
    provider.tokenRequest,
    provider.refreshRequest,
    provider.userInfoRequest,
    provider.introspectionRequest,
    provider.revocationRequest,
  ]
    .filter((block) => block !== undefined)
    .map((block) => new URL(block.endpoint).host)
  return digest([[...new Set(hosts)].sort(), clientId ?? ''])
}

function versioned(parts: readonly unknown[]): string {
  return `2.${digest(parts)}`
}

function digest(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

function sorted(record: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1))
}
