import type { EpochSeconds } from '../domain/clock.ts'
import type { Answers } from './answers.ts'
import type { ApiKeys } from './api-keys.ts'
import type { AuditTrail } from './audit-trail.ts'
import type { Authorizations } from './authorizations.ts'
import type { Chains } from './chains.ts'
import type { StoreChange } from './changes.ts'
import type { Connections } from './connections.ts'
import type { Envelopes } from './envelopes.ts'
import type { Executions } from './executions.ts'
import type { Facts } from './facts.ts'
import type { Policies } from './policies.ts'
import type { Processes } from './processes.ts'
import type { Projects } from './projects.ts'
import type { Providers } from './providers.ts'
import type { Secrets } from './secrets.ts'
import type { SettledRestore } from './settle-restore.ts'
import type { Tools } from './tools.ts'
import type { Workers } from './workers.ts'

/**
 * Everything that is kept, on SQLite or PostgreSQL. Each method keeps its promise alone, also against other processes on
 * the same database: callers need no transaction. `test/store/conformance.ts` tests every promise on both databases.
 *
 * The file of a noun holds its promise and its statements. `database.ts` says what the statements are written with, and
 * `dialects/` holds what differs between the databases.
 */
export interface Store {
  readonly projects: Projects
  readonly apiKeys: ApiKeys
  readonly providers: Providers
  readonly authorizations: Authorizations
  readonly connections: Connections
  readonly tools: Tools
  readonly workers: Workers
  readonly secrets: Secrets
  readonly facts: Facts
  readonly envelopes: Envelopes
  readonly audit: AuditTrail
  readonly answers: Answers
  readonly policies: Policies
  readonly processes: Processes
  readonly executions: Executions
  readonly chains: Chains
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
   * Scheduled runs that are due or under way fail, since they may have been carried out. Paused chains and leases are
   * deleted. `undefined` when the database is no restored backup.
   */
  settleRestore(message: string, now: EpochSeconds): Promise<SettledRestore | undefined>
  close(): Promise<void>
}

export interface OpeningOptions {
  /** Is given the facts before anything is written, even a migration; throws to refuse the database. */
  readonly admit?: (facts: ReadonlyMap<string, string>) => void
}

export interface StoreFigures {
  /** SQLite: statements that were tried again because another process was writing. */
  readonly busyRetries?: number
  /** PostgreSQL: the pool's connections that are used and idle, and the calls that wait for one. */
  readonly connections?: { readonly used: number; readonly idle: number; readonly waiting: number }
}
