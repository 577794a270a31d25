import { createHash } from 'node:crypto'
import { findCatalogueMatch } from './catalogue/registry.ts'
import { hasOwnEndpoints, ownEndpointsOf } from './connection-values.ts'
import type { CredentialsSettings } from './credentials.ts'
import type { EndpointRole } from './endpoint-role.ts'
import type { GrantSettings, Provider } from './provider.ts'
import { endpointsOf, requestsOf } from './provider-endpoints.ts'
import { hasPlaceholder } from './template.ts'
import { urlTemplatesOf, userVariables, withVariables } from './variables.ts'

/**
 * The client and server that an entry's codes and tokens belong to, as one comparable value: the client id, and each
 * endpoint by its role. An issuer with checked metadata replaces its endpoints. For a provider of the catalogue, its id
 * and the values of its variables do, so that a new version of a path requires no new consents.
 */
export function identityOf(given: Provider, clientId: string | undefined): string {
  if (given.credentials !== undefined) return identityOfCredentials(given, given.credentials)
  const provider = withoutExamples(given)
  const fromIssuer = new Set<string>(provider.fromIssuer)
  const known =
    fromIssuer.has('authorization') || fromIssuer.has('token') ? undefined : findCatalogueMatch(provider)
  const others = Object.entries(endpointsOf(provider)).filter(
    ([role, endpoint]) => !fromIssuer.has(role) && known?.has(role as EndpointRole, endpoint) !== true,
  )
  const { issuer } = provider
  const variables = valuesBesideEndpoints(provider)
  return versioned([
    clientId ?? '',
    known === undefined ? null : [known.builtIn.id, sorted(known.variables)],
    issuer === undefined || issuer === known?.builtIn.provider.issuer ? null : issuer,
    others.sort(([one], [other]) => (one < other ? -1 : 1)),
    ...(variables.length > 0 ? [variables] : []),
    ...ownEndpointsOf(provider),
    ...(provider.grant === undefined ? [] : [['grant', provider.grant.type, ...subjectOf(provider.grant)]]),
    ...(provider.oauth1 === undefined ? [] : ['oauth1']),
    ...assertedBy(provider),
    ...(provider.choicesRequest === undefined ? [] : [['choice', ...chosenValues(provider)]]),
  ])
}

/** Connections that were made without a choice lack these values. */
function chosenValues({ keptValues = {} }: Provider): readonly string[] {
  return Object.entries(keptValues)
    .flatMap(([name, { from, at }]) => (from === 'choice' ? [`${name} ${at}`] : []))
    .sort()
}

/** Whose token is exchanged, and which. */
function subjectOf({ subject }: GrantSettings): readonly string[] {
  return subject === undefined ? [] : [subject.connection, subject.token]
}

/** Whom the assertions of the grant are for, and whom they name. */
function assertedBy({ assertion, impersonation }: Provider): readonly unknown[] {
  if (assertion === undefined) return []
  const { issuer = null, subject = null, audience = null, claims = {} } = assertion
  const isNamed = impersonation !== undefined
  return [['assertion', issuer, subject, audience, Object.entries(claims).sort(), isNamed]]
}

/** Where typed secrets go: the fields, their place and the hosts. Labels, and paths of one host, may change. */
function identityOfCredentials(provider: Provider, { fields, place }: CredentialsSettings): string {
  const { api, variables = {} } = provider
  const requests = requestsOf(withoutExamples(provider)).map(([role, { endpoint }]) => [
    role,
    new URL(endpoint).host,
  ])
  const own = Object.entries(variables).filter(([, { askUser }]) => !askUser)
  return versioned([
    'credentials',
    Object.entries(fields)
      .map(([name, { secret = false }]) => [name, secret])
      .sort(),
    place,
    api?.baseUrlTemplate ?? api?.baseUrl ?? null,
    [...(api?.hosts ?? [])].sort(),
    requests.sort(),
    sorted(Object.fromEntries(own.map(([name, { value }]) => [name, value]))),
  ])
}

/** The provider with fixed values for variables that users are asked for: connections store the users' own values. */
function withoutExamples(provider: Provider): Provider {
  const asked = userVariables(provider)
  if (asked.length === 0) return provider
  const neutral = asked.map(([name, variable]) => [
    name,
    { ...variable, value: variable.oneOf?.[0] ?? 'user' },
  ])
  return withVariables(provider, { ...provider.variables, ...Object.fromEntries(neutral) })
}

/**
 * Former identities of connections of the same client at exactly the same endpoints: by the endpoints alone, from before
 * the catalogue had them, and by the set of hosts, the rule of version 0.1.0.
 */
export function formerIdentitiesOf(provider: Provider, clientId: string | undefined): readonly string[] {
  if (hasOwnEndpoints(provider)) return [] // no former connection has values of its own
  const endpoints = Object.entries(endpointsOf(provider)).sort(([one], [other]) => (one < other ? -1 : 1))
  const byEndpoints = versioned([clientId ?? '', null, provider.issuer ?? null, endpoints])
  return [byEndpoints, identityByHosts(provider, clientId)]
}

/**
 * The variables that neither the authorization nor the token endpoint names, such as one of the API's host: a token is for
 * the account that they name. A variable that only the id of the client's key names is left out.
 */
function valuesBesideEndpoints(provider: Provider): readonly (readonly [string, string])[] {
  const { authorizationRequest, tokenRequest, variables = {} } = provider
  const templates = [authorizationRequest, tokenRequest].map((request) => request?.endpointTemplate ?? '')
  return sorted(
    Object.fromEntries(
      Object.entries(variables)
        .filter(
          ([name, { askUser }]) => !askUser && !templates.some((template) => hasPlaceholder(template, name)),
        )
        .filter(([name]) => !isOfKeyAlone(provider, name))
        .map(([name, { value }]) => [name, value]),
    ),
  )
}

/** Whether only the id of the client's key names the variable: a client that changes its key stays the same client. */
function isOfKeyAlone(provider: Provider, variable: string): boolean {
  const { clientAssertion, assertion } = provider
  const jwts = [clientAssertion, assertion].filter((jwt) => jwt !== undefined)
  const keyIds = jwts.map(({ keyId = '' }) => keyId)
  const claims = Object.values(assertion?.claims ?? {}).map(String)
  const others = jwts.flatMap(({ issuer = '', subject = '', audience = '' }) => [issuer, subject, audience])
  const urls = urlTemplatesOf(provider).map(([, template]) => template)
  return (
    keyIds.some((keyId) => hasPlaceholder(keyId, variable)) &&
    ![...others, ...claims, ...urls].some((template) => hasPlaceholder(template, variable))
  )
}

/** A digest of the endpoints, without the client: an administrator confirms it for a client of the environment. */
export function endpointsDigest(provider: Provider): string {
  return identityOf(provider, undefined)
}

function identityByHosts(provider: Provider, clientId: string | undefined): string {
  const hosts = requestsOf(provider).map(([, { endpoint }]) => new URL(endpoint).host)
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
