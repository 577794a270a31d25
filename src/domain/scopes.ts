/** The scopes of both, each once, in the order they first appear. */
export function unionOfScopes(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())]
}

/** How a server names scopes that it was asked for, where it does not list them as they were asked. */
export interface ScopeMeaning {
  /** A scope -> those it includes without the server listing them (GitHub lists `repo`, never `public_repo` beside it). */
  readonly scopeImplies?: Readonly<Record<string, readonly string[]>>
  /** Scopes with two names: asked by -> listed as. */
  readonly scopeAliases?: Readonly<Record<string, string>>
}

/** All scopes that a token with these covers: themselves, their parts, what they imply, and each by all its names. */
export function coveredScopes(granted: readonly string[], meaning: ScopeMeaning = {}): Set<string> {
  const { scopeImplies = {}, scopeAliases = {} } = meaning
  const aliases = Object.entries(scopeAliases)
  const covered = new Set([...granted, ...granted.flatMap(splitScope)])
  // a Set goes on with what is added to it meanwhile
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
 * `offline_access` asks for a refresh token and opens nothing by itself, so many servers never list it as granted
 * (OpenID Connect Core section 11): it is asked for, not missed.
 */
export function missingScopes(
  needed: readonly string[],
  granted: readonly string[],
  meaning?: ScopeMeaning,
): string[] {
  if (needed.every((scope) => granted.includes(scope))) return []
  const have = coveredScopes(granted, meaning).add('offline_access')
  return needed.filter((scope) => !have.has(scope) && !splitScope(scope).every((part) => have.has(part)))
}

/** The single scopes in a value that may join several by spaces or commas (RFC 6749 section 3.3, and Strava). */
export function splitScope(value: string): string[] {
  return value.split(/[\s,]+/).filter(Boolean)
}
