import { existsSync } from 'node:fs'
import type { DatabaseLocation } from './database-location.ts'
import type { OpeningOptions, Store } from './store.ts'

/** Migrates the database and opens it. Loads only the driver that it needs. */
export async function openStore(place: DatabaseLocation, options: OpeningOptions = {}): Promise<Store> {
  if (place.kind === 'sqlite')
    return (await import('./dialects/sqlite/open.ts')).openSqliteStore(place.path, options)
  return (await import('./dialects/postgres/open.ts')).openPostgresStore(place.url, options)
}

/** How many migrations the database still needs: all, when it does not exist. Writes nothing. */
export async function pendingMigrations(place: DatabaseLocation): Promise<number> {
  if (place.kind === 'sqlite')
    return (await import('./dialects/sqlite/migrations.ts')).pendingMigrations(place.path)
  return (await import('./dialects/postgres/migrations.ts')).pendingMigrations(place.url)
}

/** Whether Gatepass was ever started on the database. Throws `store_unavailable` when a server does not answer. */
export async function isBegun(place: DatabaseLocation): Promise<boolean> {
  if (place.kind === 'sqlite') return existsSync(place.path)
  return (await import('./dialects/postgres/migrations.ts')).isBegun(place.url)
}

/** The facts of a database. Writes nothing and migrates nothing. */
export async function readFacts(place: DatabaseLocation): Promise<ReadonlyMap<string, string>> {
  if (place.kind === 'sqlite') return (await import('./dialects/sqlite/migrations.ts')).readFacts(place.path)
  return (await import('./dialects/postgres/migrations.ts')).readFacts(place.url)
}
