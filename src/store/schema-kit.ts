import { type SQL, sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

/**
 * The functions by which `describeTables` makes tables, columns and indexes: those of SQLite, whose types every kit has.
 */
export const sqliteKit = {
  table: sqliteTable,
  text,
  integer: (name: string) => integer(name),
  /** Epoch seconds and counts: 64 bits. */
  whole: (name: string) => integer(name),
  flag: (name: string) => integer(name, { mode: 'boolean' }),
  /** JSON in a text column, so that its members keep the order in which they were written. */
  json: <T>(name: string) => text(name, { mode: 'json' }).$type<T>(),
  index,
  uniqueIndex,
  primaryKey,
  /** The further columns of tables that can be partitioned by their owner: see `partitions.ts`. */
  ownerColumns: () => ({}),
  /** The name of a unique constraint in the migrations of this database. */
  uniqueName: (base: string): string => `${base}_unique`,
  /** The condition of a partial index of the rows whose flag is set. */
  isTrue: (column: string): SQL => sql`${sql.raw(column)} = 1`,
}

export type SchemaKit = typeof sqliteKit
