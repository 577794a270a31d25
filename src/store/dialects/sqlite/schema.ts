import type { StoreChange } from '../../changes.ts'
import { describeTables } from '../../schema.ts'
import { sqliteKit } from '../../schema-kit.ts'

export const tables = describeTables(sqliteKit)

// drizzle-kit reads tables that are exported one by one
export const {
  facts,
  projects,
  apiKeys,
  providers,
  authorizations,
  processes,
  servers,
  connections,
  tools,
  toolAliases,
  toolNames,
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

/** The change feed: announcements for the other processes on this file. Only the newest rows are kept. */
export const changes = sqliteKit.table('changes', {
  seq: sqliteKit.integer('seq').primaryKey({ autoIncrement: true }),
  writer: sqliteKit.text('writer').notNull(),
  change: sqliteKit.json<StoreChange>('change').notNull(),
})
