import { type AllowsHttp, endpointFault } from '../../egress/endpoint.ts'
import { collectFaults } from '../../parsing/collect-faults.ts'
import { checked, parse } from '../../parsing/parse.ts'
import type { BuiltInProvider } from '../catalogue/built-in-provider.ts'
import { type EndpointPatterns, endpointPattern, endpointPatterns } from '../catalogue/endpoint-patterns.ts'
import type { Provider } from '../provider.ts'
import { checkTemplate } from '../template.ts'
import { fillEndpoint, urlTemplateFault } from '../variables.ts'
import { type DefinitionInput, definitionSchema } from './definition-schema.ts'
import { readProvider } from './read-provider.ts'
import { refuse } from './refuse.ts'
import { withStandardParams } from './standard-params.ts'

/** A definition after reading: the provider, and the facts that a catalogue shows. */
export interface Definition extends BuiltInProvider {
  /**
   * The members of the file that describe the provider to people, such as its category and the meaning of its scopes.
   */
  readonly facts: Readonly<Omit<DefinitionInput, '$schema' | 'oauth2' | 'offline_access' | 'other_endpoints'>>
}

const CHECKED = checked(definitionSchema, 'the definition')

/**
 * Reads the JSON of a definition file. Throws `invalid_request` with all faults, each with the member, the reason and,
 * for a value from a fixed list, the nearest allowed one.
 */
export function readDefinition(
  value: unknown,
  { allowsHttp = () => false }: { readonly allowsHttp?: AllowsHttp } = {},
): Definition {
  const {
    $schema: _,
    oauth2,
    offline_access: offlineAccess,
    other_endpoints: others = {},
    ...facts
  } = parse(CHECKED, value)
  const { id, name } = facts
  const start = { base: undefined, blocksBefore: {} }
  const read = readProvider(name, oauth2, start, { allowsHttp, isDefinition: true })
  const provider = withStandardParams(isComplete(oauth2) ? withoutMetadata(read) : read)
  const faults = collectFaults()
  faults.of(() => checkOfflineAccess(offlineAccess))
  const patterns = faults.of(() => readOthers(others, provider, allowsHttp))
  faults.throwIfAny()
  return {
    id,
    provider,
    ...(offlineAccess !== undefined && {
      offlineAccess: {
        ...(offlineAccess.params && { params: offlineAccess.params }),
        ...(offlineAccess.scopes && { scopes: offlineAccess.scopes }),
      },
    }),
    endpoints: endpointPatterns(provider, patterns ?? {}),
    facts,
  }
}

function isComplete({ authorize_request, token_request }: DefinitionInput['oauth2']): boolean {
  return authorize_request?.endpoint !== undefined && token_request?.endpoint !== undefined
}

/** For a definition with both endpoints, the issuer is only compared with `iss`; the issuer's metadata is not read. */
function withoutMetadata({ fromIssuer: _, ...provider }: Provider): Provider {
  return provider
}

/** Throws `invalid_request` for a parameter whose template is not valid in an authorization request. */
export function checkOfflineAccess(offlineAccess: DefinitionInput['offline_access']): void {
  for (const [name, template] of Object.entries(offlineAccess?.params ?? {})) {
    const fault = checkTemplate(template, ['client_id', 'redirect_uri', 'scopes', 'existing_scopes'])
    if (fault !== undefined) refuse(`offline_access.params.${name}`, fault)
  }
}

function readOthers(
  others: NonNullable<DefinitionInput['other_endpoints']>,
  { variables = {} }: Provider,
  allowsHttp: AllowsHttp,
): EndpointPatterns {
  const patterns = Object.entries(others).map(([role, addresses = []]) => [
    role,
    addresses.map((address, at) => {
      const path = `other_endpoints.${role}.${at}`
      const fault =
        urlTemplateFault(address, { variables }) ??
        endpointFault(fillEndpoint(address, { variables }), allowsHttp)
      if (fault !== undefined) return refuse(path, fault)
      if (address.includes('?')) return refuse(path, 'must not hold a query')
      return endpointPattern(address)
    }),
  ])
  return Object.fromEntries(patterns)
}
