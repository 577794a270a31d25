import { accessSync, chmodSync, constants, copyFileSync, existsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import Database from 'better-sqlite3'
import type { EpochSeconds } from '../domain/clock.ts'
import { BrokerError } from '../domain/errors.ts'
import { type DatabaseLocation, databaseName } from '../store/database-location.ts'
import { reasonOf } from '../store/dialects/sqlite/file.ts'
import { BACKUP_FACT, LAST_BACKUP_FACT, MOVED_FACT } from '../store/facts.ts'
import { openStore } from '../store/open-store.ts'
import { copyRows } from './copy-rows.ts'
import { discard, discardUnfinished, flushToDisk, moveIntoPlace, unfinishedName } from './durable-file.ts'
import { openSource, openTarget } from './open.ts'

export interface Restored {
  /** When the backup was taken; of a file without a mark, when it was last written. */
  readonly takenAt: EpochSeconds
}

/**
 * Copies a backup to a place where there is no installation yet. The copy gets the mark by which the next start recognises
 * a restored backup (`settleRestore`), even if the file has none. After a failure no part of the copy remains. Throws
 * `not_found`, `already_exists`, `store_unavailable`, and `invalid_request` for a file that is damaged or no backup.
 */
export async function restoreBackup(backup: string, place: DatabaseLocation): Promise<Restored> {
  if (statSync(backup, { throwIfNoEntry: false })?.isFile() !== true)
    throw new BrokerError('not_found', `There is no backup ${backup}.`)
  if (place.kind === 'sqlite') return restoreFile(backup, place.path)
  const copy = join(folderOfCopy(backup), `.gatepass-restore-${process.pid}.db`)
  discard(copy) // left behind by a restore that was killed and had the same process id, as in a container
  try {
    const restored = copyMarked(backup, copy)
    const sqlite = { kind: 'sqlite', path: copy } as const
    await (await openStore(sqlite)).close() // migrates a backup of an older release
    await using source = await openSource(sqlite)
    await using target = await openTarget(place)
    await copyRows(source, target)
    await target.commit()
    await source.finish()
    return restored
  } catch (error) {
    throw notRestored(databaseName(place), error)
  } finally {
    discard(copy)
  }
}

/**
 * Where the working copy is made: beside the backup, because a temporary folder may be in memory and too small for it, or in
 * the temporary folder (TMPDIR) if the backup's folder cannot be written, such as a read-only mount.
 */
function folderOfCopy(backup: string): string {
  const folder = dirname(resolve(backup))
  try {
    accessSync(folder, constants.W_OK)
    return folder
  } catch {
    return tmpdir()
  }
}

/** Marks a database that was restored by other means, such as pg_restore, before its first start. */
export async function markRestored(place: DatabaseLocation, takenAt: EpochSeconds): Promise<void> {
  const store = await openStore(place)
  try {
    await store.facts.put(BACKUP_FACT, String(takenAt))
  } finally {
    await store.close()
  }
}

async function restoreFile(backup: string, to: string): Promise<Restored> {
  const path = resolve(to)
  const partial = unfinishedName(path)
  // SQLite would apply a log or journal of another database to the restored one
  for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}-journal`])
    if (existsSync(file)) throw alreadyExists(file, to)
  try {
    discardUnfinished(path)
    const restored = copyMarked(backup, partial)
    flushToDisk(partial)
    if (!(await moveIntoPlace(partial, path))) throw alreadyExists(path, to)
    flushToDisk(dirname(path))
    return restored
  } catch (error) {
    throw notRestored(to, error)
  } finally {
    discard(partial)
  }
}

function notRestored(to: string, error: unknown): BrokerError {
  if (error instanceof BrokerError) return error
  return new BrokerError('store_unavailable', `Nothing was restored to ${to} (${reasonOf(error)}).`, {
    cause: error,
  })
}

function alreadyExists(path: string, to: string): BrokerError {
  return new BrokerError(
    'already_exists',
    `${path} is there already. Restoring never replaces anything: stop the servers and move ${databaseName({ kind: 'sqlite', path: to })} away first, with its -wal, -shm and -journal.`,
  )
}

/** Copies the backup, checks the copy, marks it as a restored backup, and turns its write-ahead log off. */
function copyMarked(backup: string, to: string): Restored {
  if (existsSync(`${backup}-wal`) && statSync(`${backup}-wal`).size > 0)
    throw new BrokerError(
      'store_unavailable',
      `${backup} has a -wal beside it, so it is a live database or a part of one. Restore a file that \`gatepass backup\` made.`,
    )
  copyFileSync(backup, to)
  chmodSync(to, 0o600)
  const client = openCopy(to, backup)
  try {
    client.pragma('journal_mode = delete')
    const faults = String(client.pragma('integrity_check(1)', { simple: true }))
    if (faults !== 'ok') throw damaged(backup, faults)
    refusePrograms(client, backup)
    const mark = client
      .prepare<[string], { readonly value: string }>('select value from facts where name = ?')
      .get(BACKUP_FACT)
    const takenAt =
      mark === undefined ? Math.floor(statSync(backup).mtimeMs / 1000) : Number.parseInt(mark.value, 10)
    client
      .prepare('insert or replace into facts (name, value) values (?, ?)')
      .run(BACKUP_FACT, String(takenAt))
    client.prepare('delete from facts where name in (?, ?)').run(LAST_BACKUP_FACT, MOVED_FACT)
    return { takenAt }
  } catch (error) {
    throw error instanceof BrokerError ? error : damaged(backup, reasonOf(error))
  } finally {
    client.close()
  }
}

/** Refuses triggers and views. Gatepass makes none, and a server would run what they say, such as to undo a revocation. */
function refusePrograms(client: Database.Database, backup: string): void {
  const names = client
    .prepare<[], string>("select name from sqlite_master where type in ('trigger', 'view') limit 3")
    .pluck()
    .all()
  if (names.length > 0)
    throw damaged(backup, `it has triggers or views of another program: ${names.join(', ')}`)
}

function openCopy(path: string, backup: string): Database.Database {
  try {
    return new Database(path, { fileMustExist: true })
  } catch (error) {
    throw damaged(backup, reasonOf(error))
  }
}

function damaged(backup: string, why: string): BrokerError {
  return new BrokerError(
    'invalid_request',
    `${backup} is no backup of Gatepass, or it is damaged (${why.replaceAll(/\s+/g, ' ')}). Nothing was restored.`,
  )
}
