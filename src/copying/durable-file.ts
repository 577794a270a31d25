import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readdirSync, rmSync } from 'node:fs'
import { link, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Flushes a file to the disk (fsync), or the names in a directory, so that a power cut does not lose them. */
export function flushToDisk(path: string): void {
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

/** The temporary name of a file until it is complete. Two processes that write the same path use different names. */
export function unfinishedName(path: string): string {
  return `${path}.${process.pid}-${randomUUID()}.partial`
}

const UNFINISHED = /^\.(\d+)-[0-9a-f-]{36}\.partial$/

/** Removes the unfinished files of a path whose processes were killed. */
export function discardUnfinished(path: string): void {
  const [folder, final] = [dirname(path), basename(path)]
  for (const name of readdirSync(folder)) {
    const pid = name.startsWith(final) ? UNFINISHED.exec(name.slice(final.length))?.[1] : undefined
    if (pid !== undefined && hasEnded(Number(pid))) discard(join(folder, name))
  }
}

/** Whether no other process has the id. This process may: in containers each run often has the id of the one before. */
function hasEnded(pid: number): boolean {
  if (pid === process.pid) return true
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}

/**
 * Renames a complete file to its final name. Returns `false` and keeps both files when a file has that name already. On
 * a file system without hard links it replaces that file.
 */
export async function moveIntoPlace(partial: string, path: string): Promise<boolean> {
  try {
    await link(partial, path)
    await rm(partial)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'EEXIST') return false
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code)) throw error
    await rename(partial, path) // no hard links on this file system
  }
  return true
}
