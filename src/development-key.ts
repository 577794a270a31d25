import { readFileSync, writeFileSync } from 'node:fs'
import type { DatabasePlace } from './store/database-place.ts'

// Development keeps an administrator's API key of its own beside the database, readable by its owner alone like the
// master key that lies there too: every start prints the same commands, and they work.

/** Beside the SQLite file, else where it is started. */
export function developmentKeyFile(database: DatabasePlace): string {
  return database.kind === 'sqlite' ? `${database.path}.api-key` : 'gatepass.api-key'
}

/** The key that an earlier start kept; `undefined` when there is none that can be read. */
export function readDevelopmentKey(database: DatabasePlace): string | undefined {
  try {
    const key = readFileSync(developmentKeyFile(database), 'utf8').trim()
    return /^gp_[\w-]{43}$/.test(key) ? key : undefined
  } catch {
    return undefined
  }
}

/** Where nothing can be written, the next start makes another key. */
export function keepDevelopmentKey(database: DatabasePlace, key: string): void {
  try {
    writeFileSync(developmentKeyFile(database), `${key}\n`, { mode: 0o600 })
  } catch {}
}
