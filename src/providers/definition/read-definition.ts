import { type AllowsHttp, endpointFault } from '../../egress/endpoint.ts'
import { collectFaults } from '../../parsing/collect-faults.ts'
import { checked, parse } from '../../parsing/parse.ts'
import type { BuiltInProvider } from '../catalogue/built-in-provider.ts'
import { type EndpointPatterns, endpointPattern, endpointPatterns } from '../catalogue/endpoint-patterns.ts'
import type { Provider } from '../provider.ts'
import { checkTemplate } from '../template.ts'
import { fillEndpoint, urlTemplateFault } from '../variables.ts'
import { readCredentials } from './credentials-settings.ts'
import { type DefinitionInput, definitionSchema } from './definition-schema.ts'
import { withOwner } from './grant-settings.ts'
import { readOAuth1 } from './oauth1-settings.ts'
import { typeSent } from './provider-types.ts'
import { readProvider } from './read-provider.ts'
import { refuse } from './refuse.ts'
import { withStandardParams } from './standard-params.ts'

/** A definition after reading: the provider, and the facts that a catalogue shows. */
export interface Definition extends BuiltInProvider {
  /**
   * The members of the file that describe the provider to people, such as its category and the meaning of its scopes.
   */
  readonly facts: Readonly<
    Omit<
      DefinitionInput,
      | '$schema'
      | 'type'
      | 'oauth2'
      | 'oauth1'
      | 'credentials'
      | 'offline_access'
      | 'other_endpoints'
      | 'owner'
    >
  >
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
    type,
    oauth2,
    oauth1,
    credentials,
    offline_access: offlineAccess,
    other_endpoints: others = {},
    owner,
    ...facts
  } = parse(CHECKED, value)
  const { id, name } = facts
  const options = { allowsHttp, isDefinition: true }
  const kind = typeSent({ type, oauth2, oauth1, credentials })
  const readAs = {
    oauth2: () =>
      readOAuth2(name, oauth2 ?? refuse('oauth2', 'is required, or oauth1 or credentials'), options),
    oauth1: () => readOAuth1(name, oauth1 ?? refuse('oauth1', 'is required'), undefined, options),
    credentials: () =>
      readCredentials(name, credentials ?? refuse('credentials', 'is required'), undefined, options),
  }
  const read = readAs[kind]()
  const provider = withOwner(read, { owner, oauth2 })
  if (provider.grant?.subject?.connection === id)
    refuse('oauth2.grant.subject.connection', 'names the definition itself')
  const faults = collectFaults()
  if (kind !== 'oauth2' && offlineAccess !== undefined)
    refuse('offline_access', 'has no use: there are no refresh tokens')
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

type OAuth2Defined = NonNullable<DefinitionInput['oauth2']>

function readOAuth2(
  name: string,
  oauth2: OAuth2Defined,
  options: { readonly allowsHttp: AllowsHttp; readonly isDefinition: boolean },
): Provider {
  const read = readProvider(name, oauth2, { base: undefined, blocksBefore: {} }, options)
  return withStandardParams(isComplete(oauth2) ? withoutMetadata(read) : read)
}

function isComplete({ authorize_request, token_request }: OAuth2Defined): boolean {
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
