import { statSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'

/**
 * Overwrites the files of a SQLite database that a process has open, so that they are no database.
 *
 * Nothing is cut off: a process that reads beyond the end of a file in its memory is ended by the system (SIGBUS). No
 * process writes meanwhile: a commit that is under way would make its process believe its memory afterwards, not the files.
 */
export function breakDatabase(path: string): void {
  const database = new Database(path)
  database.exec('begin immediate')
  // the file of locks is the last one: our lock ends with it
  for (const suffix of ['', '-wal', '-shm']) {
    const { size } = statSync(`${path}${suffix}`)
    writeFileSync(`${path}${suffix}`, Buffer.alloc(size, 'no database'), { flag: 'r+' })
  }
  database.close()
}
