import { type KeptValue, type Provider, requestsOf } from './provider.ts'
import type { AuthorizationRequestBlock } from './request-block.ts'
import { fillTemplate, names } from './template.ts'
import { fillUrl, userVariables, variableFault } from './variables.ts'

// Values that each connection has for itself and that endpoints name: those that its user gave, and those of the
// authorization response.

/** By name, as `keptValuesOf` reads them. */
export type ConnectionValues = Readonly<Record<string, string>>

/** The values of the variables that users are asked for, trimmed; what else was sent is left out. */
export function askedValues(
  provider: Pick<Provider, 'variables'>,
  given: ConnectionValues,
): Record<string, string> {
  return Object.fromEntries(
    userVariables(provider).flatMap(([name]) => {
      const value = Object.hasOwn(given, name) ? (given[name] ?? '').trim() : ''
      return value === '' ? [] : [[name, value] as const]
    }),
  )
}

/** What is wrong with the values that a user, or the caller for the user, gave; by the variable's name. */
export function givenFaults(
  provider: Pick<Provider, 'variables'>,
  given: ConnectionValues,
): ReadonlyMap<string, string> {
  const faults = new Map<string, string>()
  const asked = new Map(userVariables(provider))
  for (const [name, variable] of asked) {
    const value = Object.hasOwn(given, name) ? (given[name] ?? '') : ''
    if (value === '') faults.set(name, 'is missing')
    else if (variableFault({ ...variable, value }) !== undefined)
      faults.set(
        name,
        variable.oneOf ? `is not one of ${variable.oneOf.join(', ')}` : 'is not in the right form',
      )
  }
  for (const name of Object.keys(given)) if (!asked.has(name)) faults.set(name, 'is not asked of users')
  return faults
}

/** The endpoint of a request whose values are not known: no host of this name exists (RFC 6761 section 6.4). */
const UNKNOWN = 'https://value-is-not-known.invalid/'

/** Whether the request cannot be sent, because its endpoint names a value that the connection does not have. */
export function lacksValues({ endpoint }: Pick<AuthorizationRequestBlock, 'endpoint'>): boolean {
  return endpoint === UNKNOWN
}

/** The provider with the endpoints of a connection that has these values. */
export function withConnectionValues(provider: Provider, values: ConnectionValues): Provider {
  const asked = userVariables(provider)
  const own = [...asked.map(([name]) => name), ...Object.keys(provider.keptValues ?? {})]
  const fill = <Block extends AuthorizationRequestBlock>(block: Block): Block => {
    const { endpointTemplate: template } = block
    if (template === undefined || !own.some((name) => names(template, name))) return block
    const url = fillTemplate(fillUrl(template, provider.variables), values)
    const isKnown = !own.some((name) => names(url, name)) && URL.canParse(url)
    return { ...block, endpoint: isKnown ? url : UNKNOWN }
  }
  const { userInfoRequest, refreshRequest, introspectionRequest, revocationRequest } = provider
  const { exchangeRequest, renewalRequest } = provider
  const within = asked.map(([name]) => (Object.hasOwn(values, name) ? values[name] : '')).join(':')
  return {
    ...provider,
    authorizationRequest: fill(provider.authorizationRequest),
    tokenRequest: fill(provider.tokenRequest),
    ...(refreshRequest && { refreshRequest: fill(refreshRequest) }),
    ...(exchangeRequest && { exchangeRequest: fill(exchangeRequest) }),
    ...(renewalRequest && { renewalRequest: fill(renewalRequest) }),
    ...(userInfoRequest && { userInfoRequest: fill(userInfoRequest) }),
    ...(introspectionRequest && { introspectionRequest: fill(introspectionRequest) }),
    ...(revocationRequest && { revocationRequest: fill(revocationRequest) }),
    ...(asked.length > 0 && { accountsWithin: within }),
  }
}

/** The values of authorization responses that endpoints name. */
export function keptValuesInEndpoints(provider: Provider): [string, KeptValue][] {
  const templates = endpointTemplatesOf(provider)
  return Object.entries(provider.keptValues ?? {}).filter(([name]) =>
    templates.some((template) => names(template, name)),
  )
}

/**
 * Which endpoints depend on the connection, on which values, and what these may be: comparable data, in which two
 * providers differ whose connections could lead to different hosts. Empty where none depends on the connection.
 */
export function ownEndpointsOf(provider: Provider): readonly unknown[] {
  const asked = userVariables(provider).map(([name, { pattern }]) => [name, 'user', pattern])
  const told = keptValuesInEndpoints(provider).map(([name, { from, at, pattern }]) => [
    name,
    from,
    at,
    pattern,
  ])
  if (asked.length + told.length === 0) return []
  return [[...asked, ...told].sort(), endpointTemplatesOf(provider)]
}

/** Whether endpoints depend on the connection. */
export function hasOwnEndpoints(provider: Provider): boolean {
  return userVariables(provider).length > 0 || keptValuesInEndpoints(provider).length > 0
}

function endpointTemplatesOf(provider: Provider): readonly string[] {
  return requestsOf(provider).map(([, { endpointTemplate = '' }]) => endpointTemplate)
}
