/** The scopes of both, each once, in the order they first appear. */
export function unionOfScopes(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())]
}

/**
 * The needed scopes that were not granted. An entry that joins several (`read,write`) counts as its parts.
 * `offline_access` asks for a refresh token and opens nothing by itself, so many servers never list it as granted
 * (OpenID Connect Core section 11): it is asked for, not missed.
 */
export function missingScopes(needed: readonly string[], granted: readonly string[]): string[] {
  if (needed.every((scope) => granted.includes(scope))) return []
  const have = new Set([...granted, ...granted.flatMap(splitScope), 'offline_access'])
  return needed.filter((scope) => !have.has(scope) && !splitScope(scope).every((part) => have.has(part)))
}

/** The single scopes in a value that may join several by spaces or commas (RFC 6749 section 3.3, and Strava). */
export function splitScope(value: string): string[] {
  return value.split(/[\s,]+/).filter(Boolean)
}
