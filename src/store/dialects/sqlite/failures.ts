import Database from 'better-sqlite3'
import { alreadyAdded, type RetryOptions, unavailable } from '../../retry.ts'

export const BUSY_RETRIES = 40

let retried = 0

/** How often a call was retried, since the start of this process. */
export function busyRetries(): number {
  return retried
}

/** Calls are retried while another process writes. SQLite's own busy timeout comes first, but blocks the event loop. */
export const SQLITE_RETRIES: RetryOptions = {
  isTransient: isBusy,
  mayRetry: (_, attempts) => attempts <= BUSY_RETRIES,
  pauseMs: () => 5 + Math.random() * 20,
  onRetry: () => void retried++,
  toFailure(error) {
    if (!(error instanceof Database.SqliteError)) return error
    return CONSTRAINTS.has(error.code) ? alreadyAdded(error) : unavailable(error)
  },
}

/** Error codes of a write that lost a race for the same key, or against a deletion. */
const CONSTRAINTS = new Set([
  'SQLITE_CONSTRAINT_UNIQUE',
  'SQLITE_CONSTRAINT_PRIMARYKEY',
  'SQLITE_CONSTRAINT_FOREIGNKEY',
])

export function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')
}
