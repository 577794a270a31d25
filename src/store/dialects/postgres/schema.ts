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
import { describeTables } from '../../schema.ts'
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

export const tables = describeTables({
  table: pgTable,
  text,
  integer,
  whole,
  flag: boolean,
  json,
  index,
  uniqueIndex,
  primaryKey,
  uniqueName: (base: string) => base,
  isTrue: (column: string) => sql.raw(column),
  // PostgreSQL does not index the referring columns of a foreign key
  foreignKeyIndexes: (...indexes: readonly unknown[]) => indexes,
} as unknown as SchemaKit) // drizzle's PostgreSQL columns and tables are made by calls of the same form

// drizzle-kit reads tables that are exported one by one
export const {
  facts,
  projects,
  apiKeys,
  providers,
  authorizations,
  processes,
  connections,
  tools,
  toolAliases,
  workers,
  secrets,
  answers,
  policies,
  executions,
  chains,
  auditBlocks,
} = tables

/** Where each project's audit chain ends: the row that its writers lock in turn. */
export const auditHeads = pgTable('audit_heads', {
  projectId: text('project_id').primaryKey(),
  lastSeq: whole('last_seq').notNull(),
  hash: text('hash').notNull(),
})
