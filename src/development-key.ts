import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { DatabaseLocation } from './store/database-location.ts'

// In development Gatepass keeps an administrator's API key in a file that only its owner can read, like the master key,
// so that the commands which Gatepass prints at one start still work after the next start.

/** The file with the key: beside the SQLite file, else in the working directory. */
export function developmentKeyFile(database: DatabaseLocation): string {
  return database.kind === 'sqlite' ? `${database.path}.api-key` : 'gatepass.api-key'
}

/** The key of an earlier start; `undefined` if there is none or it cannot be read. */
export function readDevelopmentKey(database: DatabaseLocation): string | undefined {
  try {
    const key = readFileSync(developmentKeyFile(database), 'utf8').trim()
    return /^gp_[\w-]{43}$/.test(key) ? key : undefined
  } catch {
    return undefined
  }
}

/**
 * Keeps the key for later starts. If the file cannot be written, the next start makes another key. A new file replaces an
 * old one or a link: through a link of another user's the key would be written to another file.
 */
export function keepDevelopmentKey(database: DatabaseLocation, key: string): void {
  const path = developmentKeyFile(database)
  const made = `${path}.${randomUUID()}`
  try {
    writeFileSync(made, `${key}\n`, { mode: 0o600, flag: 'wx' })
    renameSync(made, path)
  } catch {
    rmSync(made, { force: true })
  }
}
