import type { SQL, SQLWrapper } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import type { EpochSeconds } from '../domain/clock.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { StoreChange } from './changes.ts'
import type { OwnerFinder } from './partitions.ts'
import type { RetryOptions } from './retry.ts'
import type { Tables } from './schema.ts'
import type { BoundStatement, StatementMaker, Transaction } from './statement.ts'

/** What the file of each noun is given: one database, without saying which. */
export interface Database {
  readonly tables: Tables
  /** Builds queries, and runs none. Its types are SQLite's; PostgreSQL's builder has the same calls. */
  readonly query: Pick<BetterSQLite3Database, 'select' | 'insert' | 'update' | 'delete'>
  readonly statement: StatementMaker
  /** Runs one statement that only reads. */
  readonly read: <Row>(statement: BoundStatement<Row>) => Promise<readonly Row[]>
  /**
   * Writes in one transaction, together with its audit entries and its announcements: listeners of this process hear of
   * a change in the tick of the commit, other processes by the change feed or NOTIFY. A body that returns `undefined` or
   * `false` has done nothing, so no audit entry is written for it. The body may run again. Throws when nothing was
   * written, or `store_unavailable` when the outcome cannot be known.
   */
  readonly write: <T>(
    audit: AuditEntries | undefined,
    body: (announce: (change: StoreChange) => void) => Transaction<T>,
  ) => Promise<T>
  /** Runs one write that may be repeated when its outcome is lost, without the round trips of a transaction. */
  readonly writeRepeatable: <Row>(statement: BoundStatement<Row>) => Promise<readonly Row[]>
  readonly dialect: Dialect
  /** `traceparent` of the request whose body `write` runs, if its trace is recorded. */
  readonly traceparent?: (() => string | undefined) | undefined
  /** On a database with partitions: finds out in which of them a row is. */
  readonly owners?: OwnerFinder | undefined
}

/** SQL that the databases spell differently, and what follows from how many processes and nodes share them. */
export interface Dialect {
  /**
   * The clock of leases and claims: the server's own on PostgreSQL, so that the clocks of nodes need not agree; on
   * SQLite, whose processes are on one machine, `now`.
   */
  readonly leaseNow: (now: EpochSeconds) => SQL<number>
  /** Milliseconds, by the clock of the database. */
  readonly nowMs: SQL<number>
  /** Locks the rows that a SELECT finds, in a transaction. SQLite has one writer at a time and needs no locks. */
  readonly lock: <Select>(
    select: Select,
    how: 'for update' | 'for update skip locked' | 'for key share',
  ) => Select
  /** The elements of a JSON array, as rows with the column `value`. */
  readonly elementsOf: (list: readonly string[]) => SQL
  /** The members of a JSON object, as rows with the columns `key` and `value`. */
  readonly membersOf: (object: Readonly<Record<string, number | string>>) => SQL
  /**
   * Whether the columns have one of these combinations of texts. Absent where a read costs no round trip: there reads of
   * different requests are not put together.
   */
  readonly isOneOf?: (columns: readonly SQLWrapper[], keys: readonly (readonly string[])[]) => SQL
  /** A member of the JSON object in a column, as text. */
  readonly member: (column: SQLWrapper, name: string) => SQL
  /** Whether a text has the other in it, letter by letter. */
  readonly contains: (text: SQLWrapper, part: string) => SQL
  /**
   * How many rows a sweep deletes by one statement: few on SQLite, where requests wait meanwhile. It is a constant in the
   * text, from which PostgreSQL concludes that it has to look up few rows by their ids.
   */
  readonly sweptAtOnce: number
  /** How methods of nouns are made again while the database is busy or away, and which errors they throw in the end. */
  readonly retries: RetryOptions
}
