/** All scopes of the lists without duplicates, in the order they first appear. */
export function unionOfScopes(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())]
}

/** How a server's granted scopes relate to those that were requested, where it lists them differently. */
export interface ScopeMeaning {
  /** Scope -> scopes it includes that the server does not list (GitHub lists `repo` without `public_repo`). */
  readonly scopeImplies?: Readonly<Record<string, readonly string[]>>
  /** Requested name -> name the server lists, for scopes that have two. */
  readonly scopeAliases?: Readonly<Record<string, string>>
  /** An API key: what it may do is decided at the service, so no scope is ever missing. */
  readonly hasNoScopes?: true
}

/** All scopes that a token with these covers: themselves, their parts, the scopes they imply, and all aliases. */
export function coveredScopes(granted: readonly string[], meaning: ScopeMeaning = {}): Set<string> {
  const { scopeImplies = {}, scopeAliases = {} } = meaning
  const aliases = Object.entries(scopeAliases)
  const covered = new Set([...granted, ...granted.flatMap(splitScope)])
  // iterating a Set visits what is added during the iteration
  for (const scope of covered) {
    for (const implied of Object.hasOwn(scopeImplies, scope) ? (scopeImplies[scope] ?? []) : [])
      covered.add(implied)
    for (const [asked, listed] of aliases) {
      if (scope === asked) covered.add(listed)
      if (scope === listed) covered.add(asked)
    }
  }
  return covered
}

/**
 * The needed scopes that were not granted. An entry that joins several (`read,write`) counts as its parts.
 * `offline_access` only asks for a refresh token, and many servers do not list it as granted (OpenID Connect Core
 * section 11), so it never counts as missing.
 */
export function missingScopes(
  needed: readonly string[],
  granted: readonly string[],
  meaning?: ScopeMeaning,
): string[] {
  if (meaning?.hasNoScopes || needed.every((scope) => granted.includes(scope))) return []
  const have = coveredScopes(granted, meaning).add('offline_access')
  return needed.filter((scope) => !have.has(scope) && !splitScope(scope).every((part) => have.has(part)))
}

/** The single scopes in a value that may join several by spaces or commas (RFC 6749 section 3.3, and Strava). */
export function splitScope(value: string): string[] {
  return value.split(/[\s,]+/).filter(Boolean)
}
