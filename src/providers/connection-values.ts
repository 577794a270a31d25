import { fieldFault } from './credentials.ts'
import { type ToldValues, tenantIn } from './kept-values.ts'
import type { KeptValue, Provider } from './provider.ts'
import { mapRequests, requestsOf } from './provider-endpoints.ts'
import type { RegisteredClient } from './provider-entry.ts'
import type { RequestEndpoint } from './request-block.ts'
import { fillTemplate, hasPlaceholder } from './template.ts'
import { fillUrl, userVariables, variableFault } from './variables.ts'

// Values that differ from connection to connection and that endpoint URLs contain as placeholders (`{{subdomain}}`):
// the user enters them, or the provider's authorization response has them.

/** The values of one connection, by the names of the placeholders. */
export type ConnectionValues = Readonly<Record<string, string>>

/** The values of the variables that users are asked for, trimmed. Empty values and other names are left out. */
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

/** The values that are part of URLs, as one text: account ids are unique within them alone. */
export function valuesInUrls(provider: Pick<Provider, 'variables'>, given: ConnectionValues): string {
  const values = askedValues(provider, given)
  return Object.entries(values)
    .filter(([name]) => provider.variables?.[name]?.isText !== true)
    .map(([, value]) => value)
    .join(':')
}

/** What is wrong with the values that a user entered, or that the caller sent for the user; by the variable's name. */
export function givenFaults(
  provider: Pick<Provider, 'variables' | 'credentials'>,
  given: ConnectionValues,
): ReadonlyMap<string, string> {
  const faults = new Map<string, string>()
  const asked = new Map(userVariables(provider))
  for (const [name, variable] of asked) {
    const value = Object.hasOwn(given, name) ? (given[name] ?? '') : ''
    const field = provider.credentials?.fields[name]
    const fault = field && fieldFault(field, value)
    if (value === '') faults.set(name, 'is missing')
    else if (fault !== undefined) faults.set(name, fault)
    else if (variableFault({ ...variable, value }) !== undefined)
      faults.set(
        name,
        variable.oneOf ? `is not one of ${variable.oneOf.join(', ')}` : 'is not in the right form',
      )
  }
  for (const name of Object.keys(given)) if (!asked.has(name)) faults.set(name, 'is not asked of users')
  return faults
}

/** Replaces an endpoint that lacks a value. No host of this name exists (RFC 6761 section 6.4). */
const UNKNOWN_ENDPOINT = 'https://value-is-not-known.invalid/'

/** Whether the request cannot be sent, because its endpoint names a value that the connection does not have. */
export function lacksValues({ endpoint }: Pick<RequestEndpoint, 'endpoint'>): boolean {
  return endpoint === UNKNOWN_ENDPOINT
}

/** The provider with the values of a connection filled into its endpoints. */
export function withConnectionValues(provider: Provider, values: ConnectionValues): Provider {
  const asked = userVariables(provider)
  const placeholders = [...asked.map(([name]) => name), ...Object.keys(provider.keptValues ?? {})]
  const fill = <Block extends RequestEndpoint>(block: Block): Block => {
    const { endpointTemplate: template } = block
    if (template === undefined || !placeholders.some((name) => hasPlaceholder(template, name))) return block
    const url = fillTemplate(fillUrl(template, provider.variables), values)
    const isKnown = !placeholders.some((name) => hasPlaceholder(url, name)) && URL.canParse(url)
    return { ...block, endpoint: isKnown ? url : UNKNOWN_ENDPOINT }
  }
  const ofUrls = asked.filter(([, { isText }]) => isText !== true)
  const accountsWithin = ofUrls.map(([name]) => (Object.hasOwn(values, name) ? values[name] : '')).join(':')
  return { ...mapRequests(provider, fill), ...(ofUrls.length > 0 && { accountsWithin }) }
}

/** The client for a connection to a tenant, within which alone the ids of accounts are unique. */
export function atTenant(registered: RegisteredClient, told: ToldValues | undefined): RegisteredClient {
  const tenant = tenantIn(told)
  if (tenant === undefined) return registered
  const { provider } = registered
  const { accountsWithin } = provider
  const within = accountsWithin === undefined ? tenant : `${accountsWithin}:${tenant}`
  return { ...registered, provider: { ...provider, accountsWithin: within } }
}

/** The values of authorization responses that endpoints name. */
export function keptValuesInEndpoints(provider: Provider): [string, KeptValue][] {
  const templates = endpointTemplatesOf(provider)
  return Object.entries(provider.keptValues ?? {}).filter(([name]) =>
    templates.some((template) => hasPlaceholder(template, name)),
  )
}

/**
 * The endpoint templates and, for each value in them that differs from connection to connection, its source and
 * pattern. Two providers whose connections can lead to different hosts differ in this. Empty if all connections have
 * the same endpoints.
 */
export function ownEndpointsOf(provider: Provider): readonly unknown[] {
  const asked = userVariables(provider).map(([name, { pattern }]) => [name, 'user', pattern])
  const fromResponse = keptValuesInEndpoints(provider).map(([name, { from, at, pattern }]) => [
    name,
    from,
    at,
    pattern,
  ])
  if (asked.length + fromResponse.length === 0) return []
  return [[...asked, ...fromResponse].sort(), endpointTemplatesOf(provider)]
}

/** Whether endpoints differ from connection to connection. */
export function hasOwnEndpoints(provider: Provider): boolean {
  return userVariables(provider).length > 0 || keptValuesInEndpoints(provider).length > 0
}

function endpointTemplatesOf(provider: Provider): readonly string[] {
  return requestsOf(provider).map(([, { endpointTemplate = '' }]) => endpointTemplate)
}
