import type { DatabaseLocation } from '../store/database-location.ts'
import type { FormOptions } from '../store/dialects/postgres/migrations.ts'
import type { RowSource, RowTarget } from './copy-rows.ts'

/**
 * Opens the database that an installation moves away from. No server may run on it, and no other process can write to
 * it until it is closed.
 */
export async function openSource(place: DatabaseLocation): Promise<RowSource> {
  if (place.kind === 'sqlite') return (await import('./sqlite.ts')).openSqliteSource(place.path)
  return (await import('./postgres.ts')).openPostgresSource(place.url, { alone: true })
}

/** Opens an empty database, or makes one, with this release's tables. `options`: see `migrateDatabase` of PostgreSQL. */
export async function openTarget(place: DatabaseLocation, options: FormOptions = {}): Promise<RowTarget> {
  if (place.kind === 'sqlite') return (await import('./sqlite.ts')).openSqliteTarget(place.path)
  return (await import('./postgres.ts')).openPostgresTarget(place.url, options)
}
