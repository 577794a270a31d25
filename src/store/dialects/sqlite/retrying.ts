import Database from 'better-sqlite3'
import { BrokerError } from '../../../domain/errors.ts'

export const BUSY_RETRIES = 40

/**
 * The same noun with methods that are tried again while another process is writing, without blocking the event loop for
 * longer than the busy timeout, and that throw `store_unavailable` when the database cannot be used at all.
 */
export function retrying<Noun extends object>(noun: Noun): Noun {
  const wrapped = Object.entries(noun).map(([name, method]) => [
    name,
    async (...args: unknown[]) => {
      for (let tries = 0; ; tries++) {
        try {
          return await method(...args)
        } catch (error) {
          if (!(error instanceof Database.SqliteError)) throw error
          if (isBusy(error) && tries < BUSY_RETRIES) {
            retried++
            await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 20))
            continue
          }
          if (TAKEN.has(error.code))
            throw new BrokerError('already_exists', 'Somebody else has just added the same. Try again.', {
              cause: error,
            })
          throw new BrokerError(
            'store_unavailable',
            'The database cannot be used right now. Try again shortly.',
            {
              cause: error,
              retryAfter: 5,
            },
          )
        }
      }
    },
  ])
  return Object.fromEntries(wrapped) as Noun // the same names with the same signatures
}

let retried = 0

/** How often a call was tried again, since the start of this process. */
export function busyRetries(): number {
  return retried
}

/** Error codes of a race for the same key, or with a deletion. */
const TAKEN = new Set([
  'SQLITE_CONSTRAINT_UNIQUE',
  'SQLITE_CONSTRAINT_PRIMARYKEY',
  'SQLITE_CONSTRAINT_FOREIGNKEY',
])

export function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')
}
