import type { RowSource, RowTarget } from './copy.ts'
import type { DatabasePlace } from './database-place.ts'

/** A database to move away from: no server runs on it, and no process can write to it until it is closed. */
export async function openSource(place: DatabasePlace): Promise<RowSource> {
  if (place.kind === 'sqlite') return (await import('./dialects/sqlite/copy.ts')).openSqliteSource(place.path)
  return (await import('./dialects/postgres/copy.ts')).openPostgresSource(place.url, { alone: true })
}

/** An empty database of this release, filled in one transaction. */
export async function openTarget(place: DatabasePlace): Promise<RowTarget> {
  if (place.kind === 'sqlite') return (await import('./dialects/sqlite/copy.ts')).openSqliteTarget(place.path)
  return (await import('./dialects/postgres/copy.ts')).openPostgresTarget(place.url)
}

/** The facts of a database. Writes nothing and migrates nothing. */
export async function readFacts(place: DatabasePlace): Promise<ReadonlyMap<string, string>> {
  if (place.kind === 'sqlite') return (await import('./dialects/sqlite/migrations.ts')).readFacts(place.path)
  return (await import('./dialects/postgres/migrations.ts')).readFacts(place.url)
}
