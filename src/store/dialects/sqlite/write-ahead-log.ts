// the default import: a test holds `fdatasync` up, or lets it fail
import fs from 'node:fs'
import type Database from 'better-sqlite3'
import { unavailable } from '../../retry.ts'

/** The file into which SQLite writes commits, until a checkpoint copies them into the database file (`-wal`). */
export interface WriteAheadLog {
  /**
   * Resolves when every commit before the call is on the disk. Once the disk has failed, it rejects with
   * `store_unavailable` until the program is started again: what the system had not written by then may be lost, and
   * another call could succeed without it.
   */
  sync(): Promise<void>
  /** After the last `sync` has ended. */
  close(): void
}

/**
 * SQLite with `synchronous=FULL` writes each commit to the disk before the statement returns, which holds the event loop
 * for as long as the disk takes. With NORMAL it does not wait, and its checkpoints keep the file whole all the same. What
 * is left is to wait for the log in the system's own thread before a write is acknowledged, which is the same promise.
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
      // the running one may have begun before the last commit
      next ??= running.then(begin, begin)
      return next
    },
    close: () => fs.closeSync(descriptor),
  }
}

const IN_MEMORY: WriteAheadLog = { sync: async () => undefined, close: () => undefined }
