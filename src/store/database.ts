import type { SQL, SQLWrapper } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import type { EpochSeconds } from '../domain/clock.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { ChangeHook } from './change-hook.ts'
import type { Announce } from './changes.ts'
import type { OwnerFinder } from './partitions.ts'
import type { RetryOptions } from './retry.ts'
import type { Tables } from './schema.ts'
import type { BoundStatement, StatementMaker, Transaction } from './statement.ts'

/** The interface by which the file of each noun uses the database, be it SQLite or PostgreSQL. */
export interface Database {
  readonly tables: Tables
  /** Builds queries, and runs none. Its types are SQLite's; PostgreSQL's builder has the same calls. */
  readonly query: Pick<BetterSQLite3Database, 'select' | 'insert' | 'update' | 'delete'>
  readonly statement: StatementMaker
  /** Runs one statement that only reads. */
  readonly read: <Row>(statement: BoundStatement<Row>) => Promise<readonly Row[]>
  /**
   * Writes in one transaction, together with its audit entries and announced changes: listeners of this process get a
   * change in the tick of the commit, other processes read it from the table of changes. A body that returns `undefined`
   * or `false` has changed nothing, so no audit entry is written for it. The body may run again. Throws when nothing was
   * written, or `store_unavailable` when the outcome cannot be known.
   */
  readonly write: <T>(
    audit: AuditEntries | undefined,
    body: (announce: Announce) => Transaction<T>,
  ) => Promise<T>
  /**
   * Runs one write without the round trips of a transaction. Only for a write that may run twice: it is repeated when its
   * outcome was lost.
   */
  readonly writeRepeatable: <Row>(statement: BoundStatement<Row>) => Promise<readonly Row[]>
  /** Writes what features make of a change, in its transaction. */
  readonly followUp: ChangeHook
  readonly dialect: Dialect
  /** Returns the `traceparent` of the request whose body `write` runs, if its trace is recorded. */
  readonly traceparent?: (() => string | undefined) | undefined
  /** Present on a database with partitions or shards: finds the owner of a row. */
  readonly owners?: OwnerFinder | undefined
  /** Whether connections and authorizations are on other machines than all other tables, so they have no foreign keys. */
  readonly isDistributed?: boolean
  /** Present on a database whose connections and authorizations are on several servers, of which some may not answer. */
  readonly parts?: DatabaseParts | undefined
}

/** The servers that hold connections and authorizations. */
export interface DatabaseParts {
  /** Whether a statement failed because one of these servers does not answer. */
  readonly isUnavailable: (error: unknown) => boolean
  /** The owners' bits in each part, all of which are on one server, as `SeveralOwners.ownersBits`. */
  readonly ownersOfEach: () => Promise<readonly string[]>
  /** Names the part that holds the rows of this owner. */
  readonly findPart: (ownerBits: string) => Promise<string | undefined>
}

/** The SQL that SQLite and PostgreSQL spell differently, and figures that differ because nodes share PostgreSQL. */
export interface Dialect {
  /**
   * The clock of leases and claims: the server's own on PostgreSQL, so that the clocks of nodes need not agree; on
   * SQLite, whose processes are on one machine, the machine's monotonic clock. Values of it are compared with nothing else.
   */
  readonly leaseNow: (now: EpochSeconds) => SQL<number>
  /** The same in milliseconds. */
  readonly leaseNowMs: SQL<number>
  /**
   * A lease that seems to last longer than this was taken before the machine was started again, with another time.
   * Absent on PostgreSQL, whose clock may be set.
   */
  readonly longestLeaseSeconds?: number
  /** The time of day by the clock that all nodes share: the server's own on PostgreSQL, `now` on SQLite. */
  readonly sharedNow: (now: EpochSeconds) => SQL<number>
  /** The time in milliseconds, by the clock of the database. */
  readonly nowMs: SQL<number>
  /**
   * Locks the rows that a SELECT finds, in a transaction; several in the order of `by`, so that two transactions do not wait
   * for each other. SQLite has one writer at a time and needs neither locks nor the order.
   */
  readonly lock: <Select>(
    select: Select,
    how: 'for update' | 'for update skip locked' | 'for no key update' | 'for key share',
    by?: SQLWrapper,
  ) => Select
  /** The elements of a JSON array, as rows with the column `value`. */
  readonly elementsOf: (list: readonly string[]) => SQL
  /** The members of a JSON object, as rows with the columns `key` and `value`. */
  readonly membersOf: (object: Readonly<Record<string, number | string>>) => SQL
  /**
   * Whether the columns have one of these combinations of texts. Absent on SQLite: a read costs no round trip there, so
   * the reads of several requests need not share a statement.
   */
  readonly isOneOf?: (columns: readonly SQLWrapper[], keys: readonly (readonly string[])[]) => SQL
  /** A member of the JSON object in a column, as text. */
  readonly member: (column: SQLWrapper, name: string) => SQL
  /** Whether a text contains another, in the same case. */
  readonly contains: (text: SQLWrapper, part: string) => SQL
  /**
   * How many rows a sweep deletes by one statement: few on SQLite, where requests wait meanwhile. The statement's text has
   * it as a constant, so that PostgreSQL plans for few rows and looks them up by their ids.
   */
  readonly sweptAtOnce: number
  /** How the methods of nouns retry while the database is busy or unavailable, and which errors they throw in the end. */
  readonly retries: RetryOptions
}
