import { sql } from 'drizzle-orm'
import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { PortalRight } from '../domain/portal-ticket.ts'
import type { SchemaKit } from './schema-kit.ts'

/** The part of `describeTables` for users' own page: one-time links to it, and which tools used which connection. */
export function describePortalTables(
  { table, text, whole, json, index, primaryKey }: SchemaKit,
  projectId: () => AnySQLiteColumn,
) {
  const ofProject = () => text('project_id').notNull().references(projectId)

  /** One-time links to `/me`. A row is deleted when its link is used. */
  const portalTickets = table(
    'portal_tickets',
    {
      hash: text('hash').primaryKey(),
      projectId: ofProject(),
      userId: text('user_id').notNull(),
      userDisplay: text('user_display'),
      may: json<readonly PortalRight[]>('may').notNull().default(sql`'[]'`),
      returnUrl: text('return_url'),
      lang: text('lang'),
      createdAt: whole('created_at').notNull(),
      expiresAt: whole('expires_at').notNull(),
    },
    (t) => [index('portal_tickets_expiry').on(t.expiresAt)],
  )

  /** When each tool last got a token of a connection. */
  const connectionTools = table(
    'connection_tools',
    {
      projectId: ofProject(),
      userId: text('user_id').notNull(),
      connectionId: text('connection_id').notNull(),
      /** The tool's id. */
      tool: text('tool').notNull(),
      lastUsedAt: whole('last_used_at').notNull(),
    },
    (t) => [
      primaryKey({ columns: [t.projectId, t.userId, t.connectionId, t.tool] }),
      index('connection_tools_last_use').on(t.lastUsedAt),
    ],
  )

  return { portalTickets, connectionTools }
}
