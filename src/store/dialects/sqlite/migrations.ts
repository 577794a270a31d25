import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { BrokerError } from '../../../domain/errors.ts'
import { BUSY_TIMEOUT_MS, cannotOpen } from './file.ts'

/** How many migrations the file still needs: all, when it does not exist. Writes nothing. */
export function pendingMigrations(path: string): number {
  const migrations = readMigrationFiles({ migrationsFolder: migrationsFolder() })
  if (!existsSync(path)) return migrations.length
  try {
    const client = new Database(path, { readonly: true, fileMustExist: true })
    try {
      const begun = client.prepare("select 1 from sqlite_master where name = 'schema_migrations'").get()
      if (begun === undefined) return migrations.length
      const done = new Set(client.prepare('select hash from schema_migrations').pluck().all())
      return migrations.filter(({ hash }) => !done.has(hash)).length
    } finally {
      client.close()
    }
  } catch (error) {
    throw cannotOpen(path, error)
  }
}

/** The facts of the file; none when it does not exist or has no tables yet. Writes nothing. */
export function readFacts(path: string): ReadonlyMap<string, string> {
  if (!existsSync(path)) return new Map()
  try {
    const client = new Database(path, { readonly: true, fileMustExist: true })
    try {
      client.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
      const begun = client.prepare("select 1 from sqlite_master where name = 'facts'").get()
      if (begun === undefined) return new Map()
      const rows = client.prepare<[], { name: string; value: string }>('select name, value from facts').all()
      return new Map(rows.map(({ name, value }) => [name, value]))
    } finally {
      client.close()
    }
  } catch (error) {
    throw cannotOpen(path, error)
  }
}

/**
 * Brings the schema up to date. Several processes may start at once: one migrates in an exclusive transaction,
 * which drizzle's own `migrate()` does not take, the others wait and find it done. A database that a newer release
 * has migrated is refused.
 */
export function migrateDatabase(client: Database.Database): void {
  const migrations = readMigrationFiles({ migrationsFolder: migrationsFolder() })
  client.pragma('busy_timeout = 30000')
  try {
    client
      .transaction(() => {
        client.exec(
          'create table if not exists schema_migrations (hash text primary key, created_at integer not null)',
        )
        const done = new Set(client.prepare('select hash from schema_migrations').pluck().all())
        const known = new Set<unknown>(migrations.map((one) => one.hash))
        if ([...done].some((hash) => !known.has(hash)))
          throw new BrokerError(
            'store_unavailable',
            'The database was migrated by a newer release of Gatepass. Start that release, or restore a backup.',
          )
        for (const { hash, sql, folderMillis } of migrations) {
          if (done.has(hash)) continue
          for (const statement of sql) client.exec(statement)
          client.prepare('insert into schema_migrations values (?, ?)').run(hash, folderMillis)
        }
      })
      .exclusive()
  } finally {
    client.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  }
}

function migrationsFolder(): string {
  const folder = fileURLToPath(new URL('../../../../drizzle/sqlite', import.meta.url))
  if (existsSync(folder)) return folder
  throw new Error('the drizzle/ folder with the migrations is missing from this installation')
}
