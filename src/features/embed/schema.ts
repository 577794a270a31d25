import type { CoreTables } from '../../store/schema.ts'
import type { SchemaKit } from '../../store/schema-kit.ts'
import type { OpenedIn } from './domain.ts'

/** Connect sessions. */
export function describeConnectSessions(kit: SchemaKit, { projects }: Pick<CoreTables, 'projects'>) {
  const { table, text, integer, whole, index, uniqueName } = kit

  const connectSessions = table(
    'connect_sessions',
    {
      id: text('id').primaryKey(),
      projectId: text('project_id')
        .notNull()
        .references(() => projects.id),
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
