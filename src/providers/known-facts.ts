import type { ScopeMeaning } from '../domain/scopes.ts'
import { findCatalogueMatch } from './catalogue/registry.ts'
import type { Provider } from './provider.ts'

/** Settings that an entry may leave to the catalogue, even if it was stored before the catalogue had them. */
type Fact =
  | 'scopeImplies'
  | 'scopeAliases'
  | 'keepsEarlierGrants'
  | 'callbackTellsScopes'
  | 'callbackMembers'
  | 'publicClients'
type Facts = Pick<Provider, Fact>

/** Keys have no scopes, and nothing of an authorization server. */
const TYPED: ScopeMeaning = { hasNoScopes: true }

const known = new WeakMap<Provider, Facts>()

/** The entry's own settings, else those of the catalogue's provider with the same endpoints. */
export function factsOf(provider: Provider): Facts & ScopeMeaning {
  if (provider.credentials !== undefined) return TYPED
  const found = known.get(provider)
  if (found !== undefined) return found
  const ofCatalogue = findCatalogueMatch(provider)?.builtIn.provider
  const fact = <Name extends Fact>(name: Name) => {
    const value = provider[name] ?? ofCatalogue?.[name]
    return value === undefined ? {} : { [name]: value }
  }
  const facts: Facts = {
    ...fact('scopeImplies'),
    ...fact('scopeAliases'),
    ...fact('keepsEarlierGrants'),
    ...fact('callbackTellsScopes'),
    ...fact('callbackMembers'),
    ...fact('publicClients'),
  }
  known.set(provider, facts)
  return facts
}
