import type { EpochSeconds } from '../domain/clock.ts'
import type { StoreChange } from './changes.ts'
import type { Nouns } from './create-nouns.ts'
import type { SettledRestore } from './settle-restore.ts'

/**
 * Everything that is kept, on SQLite or PostgreSQL: the nouns that `createNouns` lists. Each method keeps its promise
 * alone, also against other processes on the same database: callers need no transaction. `test/store/conformance.ts`
 * tests every promise on both databases.
 *
 * The file of a noun holds its promise and its statements. `database.ts` says what the statements are written with, and
 * `dialects/` holds what differs between the databases.
 */
export interface Store extends Nouns {
  /**
   * Announces through `onChange` what other processes have written since the last call, on a database that does not
   * push changes. The returned number changes when a change may have been missed: caches must then be emptied.
   */
  catchUp(): number
  /**
   * Registers a listener. It is called in the tick in which a write of this process was committed, and for writes of
   * other processes when this process hears of them.
   */
  onChange(listener: (change: StoreChange) => void): void
  /** Writes a value. Throws when the database cannot be written: no space, no permission, no server. */
  probe(): Promise<void>
  /** Figures of the database, as this process sees it. */
  figures(): StoreFigures
  /**
   * Makes a restored backup safe to use, once. Its refresh tokens may have been rotated after the backup, so each counts
   * one more request whose outcome is not known. Authorizations that were under way fail as expired, with this message.
   * Scheduled runs that are due or under way fail, since they may have been carried out. Paused chains, suspended calls
   * and leases are deleted. `undefined` when the database is no restored backup.
   */
  settleRestore(message: string, now: EpochSeconds): Promise<SettledRestore | undefined>
  close(): Promise<void>
}

export interface OpeningOptions {
  /** Is given the facts before anything is written, even a migration; throws to refuse the database. */
  readonly admit?: (facts: ReadonlyMap<string, string>) => void
  /** An empty PostgreSQL database gets its tables in so many partitions. Throws `already_exists` when it is not empty. */
  readonly partitions?: number | undefined
  /** `traceparent` of the request that runs, if its trace is recorded. Absent: events are written without it. */
  readonly traceparent?: (() => string | undefined) | undefined
}

export interface StoreFigures {
  /** SQLite: statements that were tried again because another process was writing. */
  readonly busyRetries?: number
  /** PostgreSQL: the pool's connections that are used and idle, and the calls that wait for one. */
  readonly connections?: { readonly used: number; readonly idle: number; readonly waiting: number }
}
