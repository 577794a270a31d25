import type { ScopeMeaning } from '../domain/scopes.ts'
import { builtInByEndpoints } from './catalogue/registry.ts'
import type { Provider } from './provider.ts'

/** What an entry may leave to the catalogue, also one that was stored before the catalogue said it. */
type Fact = 'scopeImplies' | 'scopeAliases' | 'callbackTellsScopes' | 'callbackMembers' | 'publicClients'
type Facts = Pick<Provider, Fact>

const known = new WeakMap<Provider, Facts>()

/** The entry's own word, else that of the catalogue's provider with these endpoints. */
export function factsOf(provider: Provider): Facts & ScopeMeaning {
  const found = known.get(provider)
  if (found !== undefined) return found
  const { authorizationRequest, tokenRequest } = provider
  const ofCatalogue = builtInByEndpoints(authorizationRequest.endpoint, tokenRequest.endpoint)?.builtIn
    .provider
  const fact = <Name extends Fact>(name: Name) => {
    const value = provider[name] ?? ofCatalogue?.[name]
    return value === undefined ? {} : { [name]: value }
  }
  const facts: Facts = {
    ...fact('scopeImplies'),
    ...fact('scopeAliases'),
    ...fact('callbackTellsScopes'),
    ...fact('callbackMembers'),
    ...fact('publicClients'),
  }
  known.set(provider, facts)
  return facts
}
