import { type SQL, sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

/**
 * What a database makes columns and indexes with, see `describeTables`: SQLite's, whose types are those of every kit.
 */
export const sqliteKit = {
  table: sqliteTable,
  text,
  integer: (name: string) => integer(name),
  /** Epoch seconds and counts: 64 bits. */
  whole: (name: string) => integer(name),
  flag: (name: string) => integer(name, { mode: 'boolean' }),
  /** Kept as text, so that the members are read in the order in which they were written. */
  json: <T>(name: string) => text(name, { mode: 'json' }).$type<T>(),
  index,
  uniqueIndex,
  primaryKey,
  /** Columns of the tables that can be partitioned by their owner: see `partitions.ts`. */
  ownerColumns: () => ({}),
  /** The name that the migrations of this database have given to a unique constraint. */
  uniqueName: (base: string): string => `${base}_unique`,
  /** The condition of a partial index over the rows whose flag is set. */
  isTrue: (column: string): SQL => sql`${sql.raw(column)} = 1`,
}

export type SchemaKit = typeof sqliteKit
