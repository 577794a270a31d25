import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator'
import { BrokerError } from '../domain/errors.ts'

/** The migrations of this release whose hash is not in `done`, oldest first. */
export function migrationsAfter(
  database: 'sqlite' | 'postgres',
  done: ReadonlySet<string>,
): readonly MigrationMeta[] {
  return knownMigrations(database).filter(({ hash }) => !done.has(hash))
}

/** Throws `store_unavailable` when a migration was done that this release does not know. */
export function refuseNewer(database: 'sqlite' | 'postgres', done: Iterable<string>): void {
  const known = new Set(knownMigrations(database).map(({ hash }) => hash))
  if ([...done].some((hash) => !known.has(hash)))
    throw new BrokerError(
      'store_unavailable',
      'The database was migrated by a newer release of Gatepass. Start that release, or restore a backup.',
    )
}

const read: { sqlite?: readonly MigrationMeta[]; postgres?: readonly MigrationMeta[] } = {}

function knownMigrations(database: 'sqlite' | 'postgres'): readonly MigrationMeta[] {
  const migrationsFolder = fileURLToPath(new URL(`../../drizzle/${database}`, import.meta.url))
  if (existsSync(migrationsFolder)) {
    read[database] ??= readMigrationFiles({ migrationsFolder })
    return read[database]
  }
  throw new Error('the drizzle/ folder with the migrations is missing from this installation')
}
