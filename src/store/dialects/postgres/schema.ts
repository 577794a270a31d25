import { sql } from 'drizzle-orm'
import {
  boolean,
  customType,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import type { SchemaKit } from '../../schema-kit.ts'

const json = customType<{ data: unknown; driverData: string }>({
  dataType: () => 'text',
  toDriver: (value) => JSON.stringify(value),
  fromDriver: (value) => JSON.parse(value), // written by `toDriver`
})

const whole = customType<{ data: number; driverData: string }>({
  dataType: () => 'bigint',
  toDriver: String,
  fromDriver: Number,
})

const functions = {
  table: pgTable,
  text,
  integer,
  whole,
  flag: boolean,
  json,
  index,
  uniqueIndex,
  primaryKey,
  ownerColumns: () => ({}),
  uniqueName: (base: string) => base,
  isTrue: (column: string) => sql.raw(column),
}

export const postgresKit = functions as unknown as SchemaKit // drizzle's functions for PostgreSQL have the same form

/** Describes the tables of a database whose form has the column `owner_bits`: see `owner-tables.ts`. */
export const ownerKit = {
  ...functions,
  ownerColumns: () => ({ ownerBits: text('owner_bits').notNull() }),
} as unknown as SchemaKit // as above

/** The end of each project's audit chain. A writer locks the row before it appends. */
export const auditHeads = pgTable('audit_heads', {
  projectId: text('project_id').primaryKey(),
  lastSeq: whole('last_seq').notNull(),
  hash: text('hash').notNull(),
})

/** The number of the newest transaction in each slot of a process: see `commits.ts`. */
export const commits = pgTable(
  'commits',
  {
    writer: text('writer').notNull(),
    slot: integer('slot').notNull(),
    number: whole('number').notNull(),
    /** Epoch seconds, by the clock of the database. */
    at: whole('at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.writer, t.slot] })],
)

/** The table of changes: the announcements of each transaction, for the other processes. Old rows are deleted. */
export const changes = pgTable(
  'changes',
  {
    xid: whole('xid').notNull(),
    writer: text('writer').notNull(),
    /** The changes of the transaction as JSON; NULL in a row that records a deletion. */
    body: text('body'),
    /** The rows of transactions with a smaller id were deleted. */
    prunedBelow: whole('pruned_below'),
  },
  (t) => [primaryKey({ columns: [t.xid, t.writer] })],
)
