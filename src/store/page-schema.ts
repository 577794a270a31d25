import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { PageSessionKind } from '../domain/page-session.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { SchemaKit } from './schema-kit.ts'

/** The part of `describeTables` for pages: their sessions, and the figures and lists of the console. */
export function describePageTables(kit: SchemaKit, projectId: () => AnySQLiteColumn) {
  const { table, text, whole, index, primaryKey } = kit
  const ofProject = () => text('project_id').notNull().references(projectId)
  const sealed = (name: string) => text(name).$type<Sealed>()

  const pageSessions = table(
    'page_sessions',
    {
      /** The SHA-256 of the token in the cookie. */
      id: text('id').primaryKey(),
      kind: text('kind').$type<PageSessionKind>().notNull(),
      projectId: ofProject(),
      subject: text('subject').notNull(),
      payload: sealed('payload').notNull(),
      createdAt: whole('created_at').notNull(),
      lastSeenAt: whole('last_seen_at').notNull(),
      expiresAt: whole('expires_at').notNull(),
    },
    (t) => [
      index('page_sessions_of_subject').on(t.subject, t.kind, t.projectId),
      index('page_sessions_expiry').on(t.expiresAt),
    ],
  )

  /** How often something happened in an hour, for the charts of the console. Written in batches. */
  const counters = table(
    'counters',
    {
      projectId: ofProject(),
      /** The start of the hour. */
      hour: whole('hour').notNull(),
      name: text('name').notNull(),
      label: text('label').notNull(),
      count: whole('count').notNull(),
    },
    (t) => [
      primaryKey({ columns: [t.projectId, t.hour, t.name, t.label] }),
      index('counters_hour').on(t.hour),
    ],
  )

  /** The users of each project, and when each was last seen. Written in batches. */
  const users = table(
    'users',
    {
      projectId: ofProject(),
      userId: text('user_id').notNull(),
      lastSeenAt: whole('last_seen_at').notNull(),
    },
    (t) => [
      primaryKey({ columns: [t.projectId, t.userId] }),
      index('users_seen').on(t.projectId, t.lastSeenAt, t.userId),
    ],
  )

  return { pageSessions, counters, users }
}
