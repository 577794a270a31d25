import type { Definition } from '../definition/read-definition.ts'
import type { Provider, ProviderApi } from '../provider.ts'
import type { ProviderEntry } from '../provider-entry.ts'
import { builtIn, builtInIds, findCatalogueMatch, hasEndpointsOf, isWhollyOf } from './registry.ts'

/** The definitions that an entry can be made of: the operator's own, which take precedence, and the catalogue's. */
export interface Definitions {
  readonly ids: readonly string[]
  /** The operator's own. */
  readonly own: readonly Definition[]
  /** The definition of that id; upper and lower case are the same. */
  find(id: string): Definition | undefined
  /** Whether every endpoint of the entry is one of that definition, at a host that the definition names. */
  isWhollyOf(provider: Provider, id: string): boolean
  /**
   * The definition whose logo and words pages may show for the entry: the one that an administrator named, if it has the
   * entry's endpoints, else the one that the endpoints lead to. The name in a tool's metadata proves nothing.
   */
  describing(entry: Pick<ProviderEntry, 'provider' | 'wellKnownId'>): Definition | undefined
  /** The API of an entry with the endpoints of a definition that entries cannot be made of. */
  unlistedApi(provider: Provider): ProviderApi | undefined
}

/** @param others definitions that entries cannot be made of; entries with their endpoints get their words and their API */
export function createDefinitions(
  operators: readonly Definition[] = [],
  others: readonly Definition[] = [],
): Definitions {
  const own = operators.map(complete)
  const byId = new Map(own.map((definition) => [definition.id, definition]))
  const unlisted = (provider: Provider) => others.find((other) => hasEndpointsOf(provider, other))
  const find = (id: string) => byId.get(id.toLowerCase()) ?? builtIn(id)
  return {
    get ids() {
      return [...new Set([...byId.keys(), ...builtInIds()])]
    },
    own,
    find,
    isWhollyOf(provider, id) {
      const definition = byId.get(id)
      return isWhollyOf(provider, id) || (definition !== undefined && isWhollyOf(provider, definition))
    },
    describing({ provider, wellKnownId }) {
      const named = wellKnownId === undefined ? undefined : find(wellKnownId)
      if (named !== undefined && hasEndpointsOf(provider, named)) return named
      const known = findCatalogueMatch(provider)
      return known ? builtIn(known.builtIn.id) : unlisted(provider)
    },
    unlistedApi: (provider) => unlisted(provider)?.provider.api,
  }
}

/** Without `fromIssuer` a definition is complete: its issuer is only compared, and its metadata decides no setting. */
function complete(definition: Definition): Definition {
  const { provider } = definition
  if (provider.issuer === undefined || provider.fromIssuer !== undefined) return definition
  return { ...definition, provider: { ...provider, fromIssuer: [] } }
}
