import { closeSync, existsSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { BrokerError } from '../../domain/errors.ts'
import type { AuditEntries, StoreChange } from '../store.ts'
import * as schema from './schema.ts'

export type SqliteDatabase = ReturnType<typeof openDatabase>['db']

/** The database within a transaction. */
export type Transaction = Pick<SqliteDatabase, 'select' | 'insert' | 'update' | 'delete' | 'run'>

/** What each noun's file is given. */
export interface SqliteContext {
  readonly db: SqliteDatabase
  /**
   * Writes in one transaction, together with what it leaves in the audit trail and what it announces: to this process
   * when it is committed, to others by the change feed. A body that answers `undefined` or `false` has done nothing,
   * so nothing is recorded of it.
   *
   * Whatever answers the row it has written goes through here, and never `db….returning().get()`: outside of a
   * transaction better-sqlite3's `get()` says nothing of a commit that fails, such as on a full disk.
   */
  readonly write: <T>(
    audit: AuditEntries | undefined,
    body: (tx: Transaction, announce: (change: StoreChange) => void) => T,
  ) => T
  /** Announces what other processes have written, see `Store`. */
  readonly catchUp: () => number
  readonly onChange: (listener: (change: StoreChange) => void) => void
}

/** SQLite before this has the WAL-reset bug, which can corrupt a database that several connections write. */
const OLDEST_SQLITE = '3.51.3'
const BUSY_TIMEOUT_MS = 200
const BUSY_RETRIES = 40

const SAFE_PRAGMAS = { journal_mode: 'wal', synchronous: 2, foreign_keys: 1 } as const

/**
 * Opens the file for durable writing: WAL with `synchronous=FULL`, because with NORMAL, which is better-sqlite3's
 * default in WAL mode, a power cut may roll back the commit that held a rotated refresh token. Read back; refuses
 * to start otherwise.
 */
export function openDatabase(path: string) {
  for (let tries = 0; ; tries++) {
    const client = openFile(path)
    try {
      return openSafely(client, path)
    } catch (error) {
      client.close()
      // SQLite does not wait for another process that turns the same file to WAL, or is the last to close it
      if (isBusy(error) && tries < BUSY_RETRIES) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5 + Math.random() * 20)
        continue
      }
      throw error instanceof BrokerError ? error : cannotOpen(path, error)
    }
  }
}

/**
 * A file that is not there yet is made for its owner alone: it holds sealed tokens and the hashes of keys. SQLite gives
 * the log beside it (`-wal`, `-shm`) the same permissions.
 */
function openFile(path: string): Database.Database {
  try {
    if (path !== ':memory:') closeSync(openSync(path, 'a', 0o600))
    return new Database(path)
  } catch (error) {
    throw cannotOpen(path, error)
  }
}

function openSafely(client: Database.Database, path: string) {
  const { version } = client.prepare('select sqlite_version() as version').get() as { version: string }
  if (version.localeCompare(OLDEST_SQLITE, 'en', { numeric: true }) < 0)
    throw new BrokerError(
      'store_unavailable',
      `SQLite ${version} is too old: ${OLDEST_SQLITE} or newer is needed.`,
    )
  client.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  for (const [name, value] of Object.entries(SAFE_PRAGMAS)) {
    client.pragma(`${name} = ${value}`)
    const actual = client.pragma(name, { simple: true })
    if (actual !== value && !(path === ':memory:' && name === 'journal_mode'))
      throw new BrokerError(
        'store_unavailable',
        `SQLite would not set ${name} to ${value} (it is ${actual}).`,
      )
  }
  return { client, db: drizzle(client, { schema }) }
}

/** No such directory, no permission, no database: for the operator, who alone hears it. */
function cannotOpen(path: string, cause: unknown): BrokerError {
  const why = cause instanceof Error ? cause.message.replace(/\.$/, '') : 'unknown'
  return new BrokerError(
    'store_unavailable',
    `The database ${path} cannot be opened (${why}). Check GATEPASS_DATABASE_URL, and that this user may read and write the file and its directory.`,
    { cause },
  )
}

/** How many migrations the file still needs; a file that is not there needs all. Writes nothing. */
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

/** The facts of the file as it is, or none where there is none yet. Writes nothing. */
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

/** `drizzle/sqlite`, three folders up from here in the sources and two in `dist`. */
function migrationsFolder(): string {
  for (const up of ['../../../drizzle/sqlite', '../../drizzle/sqlite']) {
    const folder = fileURLToPath(new URL(up, import.meta.url))
    if (existsSync(folder)) return folder
  }
  throw new Error('the drizzle/ folder with the migrations is missing from this installation')
}

/**
 * The same noun, whose methods wait (without holding the event loop for longer than the busy timeout) while another
 * process has the database, and answer `store_unavailable` when it cannot be used at all.
 */
export function steady<Noun extends object>(noun: Noun): Noun {
  const wrapped = Object.entries(noun).map(([name, method]) => [
    name,
    async (...args: unknown[]) => {
      for (let tries = 0; ; tries++) {
        try {
          return await method(...args)
        } catch (error) {
          if (!(error instanceof Database.SqliteError)) throw error
          if (isBusy(error) && tries < BUSY_RETRIES) {
            retried++
            await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 20))
            continue
          }
          if (TAKEN.has(error.code))
            throw new BrokerError('already_exists', 'Somebody else has just added the same. Try again.', {
              cause: error,
            })
          throw new BrokerError(
            'store_unavailable',
            'The database cannot be used right now. Try again shortly.',
            {
              cause: error,
              retryAfter: 5,
            },
          )
        }
      }
    },
  ])
  return Object.fromEntries(wrapped) as Noun // the same names with the same signatures
}

let retried = 0

/** Of this process, since its start. */
export function busyRetries(): number {
  return retried
}

/** What a race for the same key, or against a deletion, ends in. */
const TAKEN = new Set([
  'SQLITE_CONSTRAINT_UNIQUE',
  'SQLITE_CONSTRAINT_PRIMARYKEY',
  'SQLITE_CONSTRAINT_FOREIGNKEY',
])

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')
}
