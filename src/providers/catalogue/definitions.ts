import type { Definition } from '../definition/read-definition.ts'
import type { Provider } from '../provider.ts'
import { type BuiltInProvider, builtIn, builtInIds, isWhollyOf } from './registry.ts'

/** The definitions that an entry can be made of: the catalogue's and the operator's, which come before it. */
export interface Definitions {
  readonly ids: readonly string[]
  /** The operator's own. */
  readonly own: readonly Definition[]
  /** The definition of that id, in any case. */
  find(id: string): BuiltInProvider | undefined
  /** Whether every endpoint of the entry is one of that definition, at a host that the definition names. */
  isWhollyOf(provider: Provider, id: string): boolean
}

export function createDefinitions(operators: readonly Definition[] = []): Definitions {
  const own = operators.map(complete)
  const byId = new Map(own.map((one) => [one.id, one]))
  return {
    get ids() {
      return [...new Set([...byId.keys(), ...builtInIds()])]
    },
    own,
    find: (id) => byId.get(id.toLowerCase()) ?? builtIn(id),
    isWhollyOf(provider, id) {
      const definition = byId.get(id)
      return isWhollyOf(provider, id) || (definition !== undefined && isWhollyOf(provider, definition))
    },
  }
}

/** The issuer of a definition that names its endpoints is compared, and its metadata is not asked for more. */
function complete(definition: Definition): Definition {
  const { provider } = definition
  if (provider.issuer === undefined || provider.fromIssuer !== undefined) return definition
  return { ...definition, provider: { ...provider, fromIssuer: [] } }
}
