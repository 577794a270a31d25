import { factsOf } from '../../providers/known-facts.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import type { PolicyProvider } from './policy-match.ts'

/** A provider entry with some of its scopes, in the terms of policies. */
export function policyProvider({ id, provider }: ProviderEntry, scopes: readonly string[]): PolicyProvider {
  return { id, scopes, meaning: factsOf(provider) }
}
