import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { OpenedIn } from '../domain/connect-session.ts'
import type { SchemaKit } from './schema-kit.ts'

/** The part of `describeTables` for connect sessions. */
export function describeConnectSessions(kit: SchemaKit, projectId: () => AnySQLiteColumn) {
  const { table, text, integer, whole, index, uniqueName } = kit

  const connectSessions = table(
    'connect_sessions',
    {
      id: text('id').primaryKey(),
      projectId: text('project_id').notNull().references(projectId),
      userId: text('user_id').notNull(),
      tokenHash: text('token_hash').notNull().unique(uniqueName('connect_sessions_token_hash')),
      /** One or more ids, separated by spaces: see `ConnectSession.authorizationId`. */
      authorizationId: text('authorization_id').notNull(),
      origin: text('origin').notNull(),
      openerHash: text('opener_hash'),
      openedIn: text('opened_in').$type<OpenedIn>(),
      restarts: integer('restarts').notNull(),
      createdAt: whole('created_at').notNull(),
      expiresAt: whole('expires_at').notNull(),
      mac: text('mac'),
      openerMac: text('opener_mac'),
    },
    (t) => [index('connect_sessions_expiry').on(t.expiresAt)],
  )

  return { connectSessions }
}
