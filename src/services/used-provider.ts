import type { UsedProvider } from '../domain/requested-use.ts'
import { factsOf } from '../providers/known-facts.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'

/** A provider entry with some of its scopes, as gates see it. */
export function usedProvider({ id, provider }: ProviderEntry, scopes: readonly string[]): UsedProvider {
  const subjectId = provider.grant?.subject?.connection
  return { id, scopes, meaning: factsOf(provider), ...(subjectId !== undefined && { subjectId }) }
}
