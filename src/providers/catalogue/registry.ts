import { keptValuesInEndpoints, ownEndpointsOf } from '../connection-values.ts'
import { type Definition, readDefinition } from '../definition/read-definition.ts'
import type { EndpointRole } from '../endpoint-role.ts'
import type { Provider } from '../provider.ts'
import { authorizationRequestIn, endpointsOf, originAndPath } from '../provider-endpoints.ts'
import { hasRedirect, isDeviceGrant } from '../provider-grant.ts'
import { withFixedVariables } from '../variables.ts'
import type { BuiltInProvider } from './built-in-provider.ts'
import { definitionsAt } from './definition-index.ts'
import { definitionTexts } from './definition-texts.ts'
import { hostVariables, matchPattern } from './endpoint-patterns.ts'

export type { BuiltInProvider } from './built-in-provider.ts'

/** The definitions that were needed so far, by their ids. */
const parsed = new Map<string, Definition>()

/** The ids of the catalogue, Arcade's well-known `provider_id`s among them. */
export function builtInIds(): readonly string[] {
  return [...definitionTexts().keys()]
}

/** The definition of that id; upper and lower case are the same. */
export function builtIn(id: string): Definition | undefined {
  const name = id.toLowerCase()
  const known = parsed.get(name)
  if (known !== undefined) return known
  const text = definitionTexts().get(name)
  if (text === undefined) return undefined
  const definition = withWords(readDefinition(JSON.parse(text)))
  parsed.set(name, definition)
  return definition
}

/** With a device code the same scopes are asked for as at the first way, whose definition has the words. */
function withWords(definition: Definition): Definition {
  const { facts, provider } = definition
  const first = isDeviceGrant(provider) && facts.scopes === undefined ? facts.second_way_of : undefined
  const scopes = first === undefined ? undefined : builtIn(first)?.facts.scopes
  return scopes === undefined ? definition : { ...definition, facts: { ...facts, scopes } }
}

/** A provider of the catalogue, as endpoints name it. */
export interface CatalogueMatch {
  readonly builtIn: BuiltInProvider
  /** Its provider with the URLs that these endpoints have. */
  readonly provider: Provider
  /** The values of the catalogue's variables in the endpoints, such as `tenant`. */
  readonly variables: Readonly<Record<string, string>>
  /** Whether the provider has that endpoint in that role, for the same variables. */
  has(role: EndpointRole, endpoint: string): boolean
}

/** The provider that both endpoints belong to, each in its role. To share a host with a provider is not enough. */
export function findBuiltInByEndpoints(
  authorizationEndpoint: string | undefined,
  tokenEndpoint: string | undefined,
): CatalogueMatch | undefined {
  return matches(authorizationEndpoint, tokenEndpoint)[0]
}

/** As `findBuiltInByEndpoints`, for an entry. */
export function findCatalogueMatch({
  authorizationRequest,
  tokenRequest,
}: Provider): CatalogueMatch | undefined {
  return findBuiltInByEndpoints(authorizationRequest?.endpoint, tokenRequest?.endpoint)
}

/**
 * Whether every endpoint of the entry is one of that provider, at a host that its definition names: hosts of the form
 * `{subdomain}.example.com` may also be servers of others than the provider. `false` for an unverified definition of
 * the catalogue.
 */
export function isWhollyOf(provider: Provider, of: string | BuiltInProvider): boolean {
  const builtIn = typeof of === 'string' ? verified(of) : of
  const match = builtIn && matchOfEntry(provider, builtIn)
  return (
    match !== undefined &&
    isAtNamedHost(match) &&
    hasSameOwnEndpoints(provider, match.builtIn.provider) &&
    Object.entries(endpointsOf(provider)).every(([role, url]) => match.has(role as EndpointRole, url))
  )
}

/**
 * Whether both endpoints that make the server's identity are those of the definition, with any value of its variables.
 * Of typed credentials: whether they are put into the same place of requests to the same API.
 */
export function hasEndpointsOf(provider: Provider, of: BuiltInProvider): boolean {
  if (provider.credentials !== undefined) return apiOf(provider) === apiOf(of.provider)
  return matchOfEntry(provider, of) !== undefined
}

/** For the same grant without a redirect the token endpoint alone decides. */
function matchOfEntry(provider: Provider, of: BuiltInProvider): CatalogueMatch | undefined {
  const { authorizationRequest, tokenRequest, grant } = provider
  if (grant?.type !== of.provider.grant?.type) return undefined
  const wanted = wantedOf(authorizationRequest?.endpoint, tokenRequest?.endpoint, !hasRedirect(provider))
  return wanted && matchOf(of, wanted)
}

function apiOf({ credentials, api }: Provider): string {
  return JSON.stringify([credentials?.place, api?.baseUrlTemplate ?? api?.baseUrl])
}

/**
 * The definition of the catalogue, if it is verified. The endpoints of an unverified one come from a single source, and
 * one of their domains may have another owner by now.
 */
function verified(id: string): BuiltInProvider | undefined {
  const definition = builtIn(id)
  return definition?.facts.verified === true ? definition : undefined
}

/** Where endpoints depend on the connection, the entry may name no other values than the definition lists. */
function hasSameOwnEndpoints(provider: Provider, definition: Provider): boolean {
  const own = ownEndpointsOf(provider)
  if (own.length === 0) return true
  const isListed = keptValuesInEndpoints(definition).every(([, { oneOf }]) => oneOf !== undefined)
  return isListed && JSON.stringify(own) === JSON.stringify(ownEndpointsOf(definition))
}

function isAtNamedHost({ builtIn: { endpoints, provider }, variables }: CatalogueMatch): boolean {
  return [...hostVariables(endpoints)].every((name) => {
    const declared = provider.variables?.[name]
    if (declared?.oneOf !== undefined) return true // the value was compared with them
    if (declared?.isExample || declared?.askUser) return false
    return declared?.value === variables[name]
  })
}

/** The endpoints that are looked for: origin and path. */
interface Wanted {
  /** Absent with a grant without a redirect. */
  readonly authorization?: string
  readonly token: string
}

function wantedOf(
  authorizationEndpoint: string | undefined,
  tokenEndpoint: string | undefined,
  isTokenEnough = false,
): Wanted | undefined {
  if (tokenEndpoint === undefined || !URL.canParse(tokenEndpoint)) return undefined
  const token = originAndPath(tokenEndpoint)
  if (authorizationEndpoint === undefined) return isTokenEnough ? { token } : undefined
  return URL.canParse(authorizationEndpoint)
    ? { authorization: originAndPath(authorizationEndpoint), token }
    : undefined
}

function matches(
  authorizationEndpoint: string | undefined,
  tokenEndpoint: string | undefined,
): CatalogueMatch[] {
  const wanted = wantedOf(authorizationEndpoint, tokenEndpoint)
  if (wanted?.authorization === undefined) return []
  const candidates = definitionsAt(new URL(wanted.authorization).host).flatMap((id) => builtIn(id) ?? [])
  return candidates.flatMap((candidate) => matchOf(candidate, wanted) ?? [])
}

function matchOf(builtIn: BuiltInProvider, { authorization, token }: Wanted): CatalogueMatch | undefined {
  const variables =
    authorization === undefined
      ? variablesOf(builtIn, 'token', token)
      : variablesOf(builtIn, 'authorization', authorization)
  if (variables === undefined) return undefined
  const match: CatalogueMatch = {
    builtIn,
    get provider() {
      return withFixedVariables(builtIn.provider, variables)
    },
    variables,
    has(role, endpoint) {
      // refresh tokens may be sent to the token endpoint even if the catalogue names another endpoint for them
      const roles = role === 'refresh' ? (['refresh', 'token'] as const) : [role]
      return roles.some((candidate) => variablesOf(builtIn, candidate, endpoint, variables) !== undefined)
    },
  }
  return match.has('token', token) ? match : undefined
}

/** The values of the variables if the endpoint is one of the provider's; those in `given` must have the same values. */
function variablesOf(
  { endpoints, provider }: BuiltInProvider,
  role: EndpointRole,
  endpoint: string,
  given: Readonly<Record<string, string>> = {},
): Record<string, string> | undefined {
  for (const known of endpoints[role] ?? []) {
    const values = matchPattern(known, endpoint, provider.variables)
    if (values === undefined) continue
    if (Object.entries(given).every(([name, value]) => values[name] === undefined || values[name] === value))
      return values
  }
  return undefined
}

/** The provider with the parameters and scopes that request a refresh token, if its definition has any. */
export function withOfflineAccess({
  provider,
  offlineAccess,
}: Pick<BuiltInProvider, 'provider' | 'offlineAccess'>): Provider {
  // a device authorization request has the scopes of its own `params`
  if (offlineAccess === undefined || isDeviceGrant(provider)) return provider
  const authorizationRequest = authorizationRequestIn(provider)
  const params = { ...authorizationRequest.params, ...offlineAccess.params }
  for (const [name, template] of Object.entries(params)) {
    if (template.includes('{{scopes}}')) params[name] = [template, ...(offlineAccess.scopes ?? [])].join(' ')
  }
  return { ...provider, authorizationRequest: { ...authorizationRequest, params } }
}
