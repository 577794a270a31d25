import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs'

/** Flushes a file, or the names in a directory, to the disk, so that a power cut does not lose them. */
export function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Removes an SQLite file with its log and journal files, if they exist. */
export function discard(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${suffix}`, { force: true })
}
