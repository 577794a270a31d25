import { factsOf } from '../../providers/known-facts.ts'
import type { ProviderEntry } from '../../providers/provider.ts'
import type { PolicyProvider } from './policy-match.ts'

/** A provider entry and scopes of it, as policies see them. */
export function policyProvider({ id, provider }: ProviderEntry, scopes: readonly string[]): PolicyProvider {
  return { id, scopes, meaning: factsOf(provider) }
}
