import { sql } from 'drizzle-orm'
import type { CoreTables } from '../../store/schema.ts'
import type { SchemaKit } from '../../store/schema-kit.ts'
import type { PortalRight } from './domain.ts'

export function describePortalTables(
  { table, text, whole, json, index }: SchemaKit,
  { projects }: Pick<CoreTables, 'projects'>,
) {
  /** One-time links to `/me`. A row is deleted when its link is used. */
  const portalTickets = table(
    'portal_tickets',
    {
      hash: text('hash').primaryKey(),
      projectId: text('project_id')
        .notNull()
        .references(() => projects.id),
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

  return { portalTickets }
}
