import type { DatabasePlace } from '../store/database-place.ts'
import type { RowSource, RowTarget } from './copy-rows.ts'

/** A database to move away from: no server runs on it, and no process can write to it until it is closed. */
export async function openSource(place: DatabasePlace): Promise<RowSource> {
  if (place.kind === 'sqlite') return (await import('./sqlite.ts')).openSqliteSource(place.path)
  return (await import('./postgres.ts')).openPostgresSource(place.url, { alone: true })
}

/** An empty database of this release, filled in one transaction. `partitions`: see `migrateDatabase` of PostgreSQL. */
export async function openTarget(
  place: DatabasePlace,
  options: { readonly partitions?: number | undefined } = {},
): Promise<RowTarget> {
  if (place.kind === 'sqlite') return (await import('./sqlite.ts')).openSqliteTarget(place.path)
  return (await import('./postgres.ts')).openPostgresTarget(place.url, options)
}
