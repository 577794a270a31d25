import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs'

/** Waits until a file, or the names in a directory, would survive a power cut. */
export function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Removes an SQLite file with what stands beside it, if it is there. */
export function discard(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${suffix}`, { force: true })
}
