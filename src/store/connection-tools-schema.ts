import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { SchemaKit } from './schema-kit.ts'

/** The part of `describeTables` for which tools used which connection. */
export function describeConnectionTools(
  { table, text, whole, index, primaryKey }: SchemaKit,
  projectId: () => AnySQLiteColumn,
) {
  /** When each tool last got a token of a connection. */
  const connectionTools = table(
    'connection_tools',
    {
      projectId: text('project_id').notNull().references(projectId),
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

  return { connectionTools }
}
