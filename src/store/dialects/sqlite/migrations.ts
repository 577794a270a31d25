import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { migrationsAfter, refuseNewer } from '../../migrations.ts'
import { BUSY_TIMEOUT_MS, cannotOpen } from './file.ts'

/** How many migrations the file still needs: all, when it does not exist. Writes nothing. */
export function pendingMigrations(path: string): number {
  return migrationsAfter('sqlite', readTable(path, 'schema_migrations', migrationsDone) ?? new Set()).length
}

/** The facts of the file; none when it does not exist or has no tables yet. Writes nothing. */
export function readFacts(path: string): ReadonlyMap<string, string> {
  const factsIn = (client: Database.Database) =>
    client.prepare<[], { name: string; value: string }>('select name, value from facts').all()
  return new Map(readTable(path, 'facts', factsIn)?.map(({ name, value }) => [name, value]))
}

/** Opens the file and returns the result of `read`; `undefined` when the file or the table does not exist. */
function readTable<T>(path: string, table: string, read: (client: Database.Database) => T): T | undefined {
  if (!existsSync(path)) return undefined
  try {
    const client = new Database(path, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS })
    try {
      const begun = client.prepare('select 1 from sqlite_master where name = ?').get(table)
      return begun === undefined ? undefined : read(client)
    } finally {
      client.close()
    }
  } catch (error) {
    throw cannotOpen(path, error)
  }
}

/**
 * Migrates the schema. Several processes may start at once: one migrates in an exclusive transaction, which drizzle's own
 * `migrate()` does not use, and the others wait. A database that a newer release has migrated is refused.
 */
export function migrateDatabase(client: Database.Database): void {
  client.pragma('busy_timeout = 30000')
  try {
    client
      .transaction(() => {
        client.exec(
          'create table if not exists schema_migrations (hash text primary key, created_at integer not null)',
        )
        const done = migrationsDone(client)
        refuseNewer('sqlite', done)
        for (const { hash, sql, folderMillis } of migrationsAfter('sqlite', done)) {
          for (const statement of sql) client.exec(statement)
          client.prepare('insert into schema_migrations values (?, ?)').run(hash, folderMillis)
        }
      })
      .exclusive()
  } finally {
    client.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  }
}

function migrationsDone(client: Database.Database): ReadonlySet<string> {
  return new Set(client.prepare<[], string>('select hash from schema_migrations').pluck().all())
}
