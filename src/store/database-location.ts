/** The database that GATEPASS_DATABASE_URL names. The URL of PostgreSQL may hold a password: print `databaseName`. */
export type DatabaseLocation =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string }

/** The name to show to people: without the password, and without the query, which may hold a password too. */
export function databaseName(place: DatabaseLocation): string {
  if (place.kind === 'sqlite') return place.path
  const url = new URL(place.url)
  url.password = ''
  url.search = ''
  url.hash = ''
  return url.href
}

/**
 * The most partitions that a table may have. Each partition has about a dozen indexes. A statement without the owner
 * locks all partitions with their indexes, and PostgreSQL has room for 64 locks per connection by default.
 */
export const MOST_PARTITIONS = 128

/** The most shards that a table may have. A statement without the owner asks each of them. */
export const MOST_SHARDS = 1024
