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

const kit = {
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

export const tables = describeTables(kit as unknown as SchemaKit) // drizzle's PostgreSQL columns and tables are made by calls of the same form

/** The tables of a database that was created with partitions: see `partitioning.ts`. */
export const partitionedTables = describeTables({
  ...kit,
  ownerColumns: () => ({ ownerBits: text('owner_bits').notNull() }),
} as unknown as SchemaKit) // as above

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
  auditTerms,
  auditSegments,
  auditProgress,
  auditAnchors,
  toolsets,
  mcpRecords,
  mcpConsents,
  suspendedCalls,
  connectSessions,
  brandings,
  portalTickets,
  connectionTools,
  pageSessions,
  counters,
  users,
  webhooks,
  events,
  deliveries,
} = tables

/** Where each project's audit chain ends: the row that its writers lock in turn. */
export const auditHeads = pgTable('audit_heads', {
  projectId: text('project_id').primaryKey(),
  lastSeq: whole('last_seq').notNull(),
  hash: text('hash').notNull(),
})

/** The table of changes: what each transaction has announced, for the other processes. Old rows are deleted. */
export const changes = pgTable(
  'changes',
  {
    xid: whole('xid').notNull(),
    writer: text('writer').notNull(),
    /** JSON, the changes of the transaction; absent in a row that tells of deleted rows. */
    body: text('body'),
    /** The rows of transactions below it were deleted. */
    prunedBelow: whole('pruned_below'),
  },
  (t) => [primaryKey({ columns: [t.xid, t.writer] })],
)
