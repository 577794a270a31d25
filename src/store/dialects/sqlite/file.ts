import { closeSync, openSync } from 'node:fs'
import Database from 'better-sqlite3'
import { BrokerError } from '../../../domain/errors.ts'
import { BUSY_RETRIES, isBusy } from './failures.ts'

/** Older releases have the WAL-reset bug, which can corrupt a database that several connections write to. */
const OLDEST_SQLITE = '3.51.3'
export const BUSY_TIMEOUT_MS = 200

const SAFE_PRAGMAS = { journal_mode: 'wal', synchronous: 2, foreign_keys: 1 } as const

/**
 * Opens the file for durable writes: WAL with `synchronous=FULL`. With NORMAL, better-sqlite3's default in WAL mode, a
 * power cut may roll back the commit of a rotated refresh token. The settings are read back, and a file that does not have
 * them is refused.
 */
export function openDatabase(path: string): Database.Database {
  for (let tries = 0; ; tries++) {
    const client = openFile(path)
    try {
      makeSafe(client, path)
      return client
    } catch (error) {
      client.close()
      // the busy timeout does not cover a process that switches the file to WAL, or is the last to close it
      if (isBusy(error) && tries < BUSY_RETRIES) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5 + Math.random() * 20)
        continue
      }
      throw error instanceof BrokerError ? error : cannotOpen(path, error)
    }
  }
}

/**
 * Makes a new file readable by its owner only, since it holds sealed tokens and the hashes of keys. SQLite gives the files
 * of its log (`-wal`, `-shm`) the same permissions.
 */
function openFile(path: string): Database.Database {
  try {
    if (path !== ':memory:') closeSync(openSync(path, 'a', 0o600))
    return new Database(path)
  } catch (error) {
    throw cannotOpen(path, error)
  }
}

/**
 * The page cache of each connection to the file. With SQLite's default of 2 MB a random read among a million connections
 * takes 1.5 times as long, since the inner pages of the indexes do not fit.
 */
const PAGE_CACHE_KIB = 65_536

function makeSafe(client: Database.Database, path: string): void {
  const { version } = client.prepare('select sqlite_version() as version').get() as { version: string }
  if (version.localeCompare(OLDEST_SQLITE, 'en', { numeric: true }) < 0)
    throw new BrokerError(
      'store_unavailable',
      `SQLite ${version} is too old: ${OLDEST_SQLITE} or newer is needed.`,
    )
  client.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  client.pragma(`cache_size = -${PAGE_CACHE_KIB}`)
  for (const [name, value] of Object.entries(SAFE_PRAGMAS)) {
    client.pragma(`${name} = ${value}`)
    const actual = client.pragma(name, { simple: true })
    if (actual !== value && !(path === ':memory:' && name === 'journal_mode'))
      throw new BrokerError(
        'store_unavailable',
        `SQLite would not set ${name} to ${value} (it is ${actual}).`,
      )
  }
}

/** The error when the directory is missing, access is denied, or the file is no database. Only the operator sees it. */
export function cannotOpen(path: string, cause: unknown): BrokerError {
  return new BrokerError(
    'store_unavailable',
    `The database ${path} cannot be opened (${reasonOf(cause)}). Check GATEPASS_DATABASE_URL, and that this user may read and write the file and its directory.`,
    { cause },
  )
}

/** Why a file could not be used, as a part of a sentence. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\.$/, '') : 'unknown'
}
