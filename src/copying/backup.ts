import { closeSync, existsSync, fdatasyncSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import Database from 'better-sqlite3'
import type { EpochSeconds } from '../domain/clock.ts'
import { BrokerError } from '../domain/errors.ts'
import type { DatabaseLocation } from '../store/database-location.ts'
import { reasonOf } from '../store/dialects/sqlite/file.ts'
import { BACKUP_FACT, LAST_BACKUP_FACT, MOVED_FACT } from '../store/facts.ts'
import { COPIED_TABLES, copyRows } from './copy-rows.ts'
import { discard, discardUnfinished, flushToDisk, moveIntoPlace, unfinishedName } from './durable-file.ts'
import { openSqliteTarget } from './sqlite.ts'

/** A finished backup. */
export interface Backup {
  readonly bytes: number
  /** Rows of each table. */
  readonly rows: Readonly<Record<string, number>>
}

/**
 * How many pages are copied between two flushes: 1 MB. A commit of a running server waits for the flush that is under way,
 * and a single flush at the end would write gigabytes.
 */
const PAGES_AT_ONCE = 250
/** The longest pause after a flush. */
const MAX_PAUSE_MS = 200

/**
 * Copies a snapshot of the database into a new file while servers keep running: SQLite page by page under a reader's lock,
 * which blocks no writer; PostgreSQL row by row in one snapshot. The file is checked and durable when it gets its name,
 * and only its owner can read it. Secrets stay sealed. Throws `store_unavailable`.
 */
export async function backUp(place: DatabaseLocation, to: string, takenAt: EpochSeconds): Promise<Backup> {
  const path = resolve(to)
  const partial = unfinishedName(path)
  if (existsSync(path)) throw alreadyExists(to)
  try {
    discardUnfinished(path)
    if (place.kind === 'sqlite') await copyPages(place.path, partial)
    else await copyFromServer(place.url, partial)
    const rows = finish(partial, takenAt)
    flushToDisk(partial)
    if (!(await moveIntoPlace(partial, path))) throw alreadyExists(to)
    flushToDisk(dirname(path))
    return { bytes: statSync(path).size, rows }
  } catch (error) {
    discard(partial)
    throw error instanceof BrokerError ? error : cannotBackUp(to, error)
  }
}

async function copyPages(from: string, to: string): Promise<void> {
  const file = openSync(to, 'wx', 0o600)
  const client = new Database(from, { readonly: true, fileMustExist: true })
  try {
    client.pragma('busy_timeout = 1000')
    // one snapshot for all pages: without it, each commit of another process would start the copy from the beginning
    client.exec('begin')
    client.prepare('select count(*) from sqlite_master').get()
    const progress = () => {
      flushGently(file)
      return PAGES_AT_ONCE
    }
    await client.backup(to, { progress })
    client.exec('commit')
  } finally {
    client.close()
    closeSync(file)
  }
}

/** Flushes the file, then pauses as long as the flush took, so that others can use the disk. SQLite allows no asynchronous pause. */
function flushGently(file: number): void {
  const begun = performance.now()
  fdatasyncSync(file)
  const tookMs = performance.now() - begun
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.min(MAX_PAUSE_MS, tookMs))
}

async function copyFromServer(url: string, to: string): Promise<void> {
  const { openPostgresSource } = await import('./postgres.ts')
  await using source = await openPostgresSource(url, { alone: false })
  await using target = openSqliteTarget(to)
  await copyRows(source, target)
  await target.commit()
  await source.finish()
}

/** Marks the file as a backup, checks it, and turns its write-ahead log off. Returns the rows of each table. */
function finish(path: string, takenAt: EpochSeconds): Record<string, number> {
  const client = new Database(path, { fileMustExist: true })
  try {
    client.pragma('synchronous = full')
    client.pragma('journal_mode = delete')
    const facts = client.prepare('insert or replace into facts (name, value) values (?, ?)')
    facts.run(BACKUP_FACT, String(takenAt))
    client.prepare('delete from facts where name in (?, ?)').run(LAST_BACKUP_FACT, MOVED_FACT)
    const faults = String(client.pragma('integrity_check(1)', { simple: true })).replaceAll(/\s+/g, ' ')
    const orphans = client.pragma('foreign_key_check') as unknown[]
    if (faults !== 'ok' || orphans.length > 0)
      throw new BrokerError(
        'store_unavailable',
        `The copy is damaged (${faults === 'ok' ? 'a foreign key refers to a row that does not exist' : faults}), and so, most likely, is the database itself: run \`pragma integrity_check\` on it. No backup was made.`,
      )
    const names = client
      .prepare<[], string>("select name from sqlite_master where type = 'table'")
      .pluck()
      .all()
    return Object.fromEntries(
      COPIED_TABLES.filter(({ name }) => names.includes(name)).map(({ name }) => [
        name,
        client.prepare<[], number>(`select count(*) from ${name}`).pluck().get() ?? 0,
      ]),
    )
  } finally {
    client.close()
  }
}

function alreadyExists(path: string): BrokerError {
  return new BrokerError(
    'already_exists',
    `${path} is there already. A backup never replaces a file: give another name.`,
  )
}

function cannotBackUp(path: string, cause: unknown): BrokerError {
  return new BrokerError('store_unavailable', `No backup was made at ${path} (${reasonOf(cause)}).`, {
    cause,
  })
}
