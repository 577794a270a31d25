import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs'
import { link, rename, rm } from 'node:fs/promises'

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

/** Renames a complete file to its final name. Returns false, and keeps both, when a file has that name already. */
export async function nameFile(partial: string, path: string): Promise<boolean> {
  try {
    await link(partial, path)
    await rm(partial)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'EEXIST') return false
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP'].includes(code)) throw error
    await rename(partial, path) // no hard links on this file system
  }
  return true
}
