import type { EpochSeconds, SteadyClock } from '../domain/clock.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { StoreChange } from './changes.ts'
import type { Nouns } from './create-nouns.ts'
import type { SettledRestore } from './settle-restore.ts'
import type { StorePart } from './store-part.ts'

/**
 * The database, SQLite or PostgreSQL: the nouns that `createNouns` lists. Each method keeps its promise without a
 * transaction of its caller, also when other processes write to the same database. `test/store/conformance.ts` tests every
 * promise on both databases.
 *
 * The file of a noun has its promise and its statements, `database.ts` what statements are made and run with, and
 * `dialects/` what differs between the databases.
 */
export interface Store extends Nouns {
  /** What features keep in this database. Their nouns are members of the store, like those of the core. */
  readonly parts: readonly StorePart[]
  /**
   * Announces to the listeners of `onChange` what other processes have written since the last call, where the database
   * does not push changes. Returns a number. When it differs from the last one, changes may have been missed, and caches
   * must be emptied.
   */
  catchUp(): number
  /**
   * Registers a listener. It is called in the tick in which a write of this process was committed, and when this process
   * reads of writes of other processes.
   */
  onChange(listener: (change: StoreChange) => void): void
  /**
   * Registers a listener for the loss of commits that were acknowledged to this process: an asynchronous replica was
   * promoted, or the server was restored to an earlier state. `catchUp` returns another number too.
   */
  onLoss(listener: (loss: Loss) => void): void
  /** Writes a value. Throws when the database cannot be written: no space, no permission, no server. */
  probe(): Promise<void>
  /** Present where connections are on several servers: a few large writes of many users' rows cost less than many small ones. */
  readonly isDistributed?: true
  /**
   * Present on a database whose connections are on several servers, its workers: returns those that do not answer, by a
   * name that everybody may read and by their address.
   */
  readonly findSilentWorkers?: () => Promise<readonly SilentWorker[]>
  /**
   * PostgreSQL: returns the value of `synchronous_commit` when the server has a synchronous standby, but answers commits
   * before the standby has them on its disk. A failover may lose these.
   */
  readonly findWeakCommit?: () => Promise<string | undefined>
  /** Figures of this process's use of the database, for metrics. */
  figures(): StoreFigures
  /**
   * Makes a restored backup safe to use, once. Its refresh tokens may have been rotated after the backup, so each counts at
   * least one request whose outcome is not known. Authorizations that have not settled fail as expired, with this message.
   * Scheduled runs that are due or under way fail, since they may have been carried out. Paused chains, paused code,
   * suspended calls, leases, sessions, one-time links and approvals of MCP clients are deleted. `undefined` when the database is no
   * restored backup.
   *
   * Large tables are changed in many transactions. The last one takes the mark of the backup, with the audit entry: after an
   * interruption before it, the next call repeats the rest. No request may be served until it has ended.
   */
  settleRestore(
    message: string,
    now: EpochSeconds,
    audit?: (takenAt: EpochSeconds) => AuditEntries,
  ): Promise<SettledRestore | undefined>
  close(): Promise<void>
}

export interface SilentWorker {
  /** Such as `worker 2`. */
  readonly name: string
  /** Host and port. */
  readonly address: string
}

/** All that was lost was committed in the last seconds; `Infinity`: it is not known how many. */
export interface Loss {
  readonly seconds: number
}

export interface OpeningOptions {
  /** Called with the facts before anything is written, even a migration; throws to refuse the database. */
  readonly admit?: (facts: ReadonlyMap<string, string>) => void
  /**
   * The number of partitions that tables get in an empty PostgreSQL database. Opening one that is not empty and has
   * another number throws `already_exists`.
   */
  readonly partitions?: number | undefined
  /**
   * The number of shards that tables get in an empty database of a distributed engine. Opening one that is not empty and
   * has another number throws `already_exists`. 0: the same tables and statements, without an engine that places them.
   */
  readonly distribute?: number | undefined
  /** SQLite: the clock of leases. Absent: leases go by the `now` that the callers pass. */
  readonly steadyClock?: SteadyClock | undefined
  /** Returns the `traceparent` of the request that runs, if its trace is recorded. Absent: events are written without. */
  readonly traceparent?: (() => string | undefined) | undefined
}

export interface StoreFigures {
  /** SQLite: how often a call was retried because another process was writing. */
  readonly busyRetries?: number
  /** PostgreSQL: the used and idle connections of the pool, and the calls that wait for one. */
  readonly connections?: { readonly used: number; readonly idle: number; readonly waiting: number }
}
