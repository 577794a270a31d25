import type { UsedProvider } from '../domain/requested-use.ts'
import { NO_USER } from '../domain/shared-connection.ts'
import { factsOf } from '../providers/known-facts.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { ownerOf } from '../providers/provider-grant.ts'
import type { Release } from './release.ts'

/** A provider entry with some of its scopes, as gates see it. Where its connections may have either owner, that is not known. */
export function usedProvider({ id, provider }: ProviderEntry, scopes: readonly string[]): UsedProvider {
  const owner = ownerOf(provider)
  const subjectId = provider.grant?.subject?.connection
  return {
    id,
    scopes,
    meaning: factsOf(provider),
    ...(owner !== 'either' && { owner }),
    ...(subjectId !== undefined && { subjectId }),
  }
}

/** The provider of a token, as gates see it before the token leaves. */
export function releasedProvider({
  entry,
  connection: { scopes, userId },
  userInfo,
}: Pick<Release, 'entry' | 'connection' | 'userInfo'>): UsedProvider {
  const owner = userId === NO_USER ? 'project' : 'user'
  return { ...usedProvider(entry, scopes), ...(userInfo && { userInfo }), owner }
}
