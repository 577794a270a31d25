/** Which database, as GATEPASS_DATABASE_URL names it. The URL of PostgreSQL holds a password: print `databaseName`. */
export type DatabasePlace =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string }

/** The name to show people: without a password, and without a query that may hold one. */
export function databaseName(place: DatabasePlace): string {
  if (place.kind === 'sqlite') return place.path
  const url = new URL(place.url)
  url.password = ''
  url.search = ''
  url.hash = ''
  return url.href
}

/**
 * The most partitions that a table may have. Each has a dozen relations with its indexes; a statement that cannot tell
 * the owner locks all of them, and PostgreSQL has 64 locks for each of its connections by default.
 */
export const MOST_PARTITIONS = 128
