// the default import, so that a test can delay `fdatasync` or let it fail
import fs from 'node:fs'
import type Database from 'better-sqlite3'
import { unavailable } from '../../retry.ts'

/** The file `-wal`, to which SQLite writes commits, until a checkpoint copies them into the database file. */
export interface WriteAheadLog {
  /**
   * Resolves when every commit before the call is on the disk. After the first error it rejects with `store_unavailable`
   * until the program is restarted: the system may have dropped the pages that it could not write, and a later call could
   * succeed without them.
   */
  sync(): Promise<void>
  /** Call it after the last `sync` has ended. */
  close(): void
}

/**
 * With `synchronous=FULL` SQLite writes each commit to the disk before the statement returns, which blocks the event loop
 * for as long as the disk takes. With NORMAL it does not wait, and still never corrupts the file. So NORMAL is set, and a
 * thread of libuv syncs the log before a write is acknowledged: as durable as FULL, without blocking.
 */
export function openWriteAheadLog(client: Database.Database): WriteAheadLog {
  const [main] = client.pragma('database_list') as { readonly file: string }[]
  if (main === undefined || main.file === '') return IN_MEMORY
  const descriptor = fs.openSync(`${main.file}-wal`, 'r+')
  client.pragma('synchronous = normal')
  let failure: Error | undefined
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  function begin(): Promise<void> {
    next = undefined
    if (failure !== undefined) return Promise.reject(failure)
    running = new Promise<void>((resolve, reject) => {
      fs.fdatasync(descriptor, (error) => {
        running = undefined
        if (error === null) return resolve()
        failure = unavailable(error)
        reject(failure)
      })
    })
    return running
  }

  return {
    sync() {
      if (running === undefined) return begin()
      // the running sync may have begun before the last commit
      next ??= running.then(begin, begin)
      return next
    },
    close: () => fs.closeSync(descriptor),
  }
}

const IN_MEMORY: WriteAheadLog = { sync: async () => undefined, close: () => undefined }
