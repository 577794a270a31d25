import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { SharedWith } from '../domain/shared-connection.ts'
import type { SchemaKit } from './schema-kit.ts'

/** The part of `describeTables` for connections of the project. */
export function describeSharedConnections(
  { table, text, whole, json, uniqueIndex, index }: SchemaKit,
  projectId: () => AnySQLiteColumn,
  providerUid: () => AnySQLiteColumn,
) {
  const sharedConnections = table(
    'shared_connections',
    {
      id: text('id').primaryKey(),
      projectId: text('project_id').notNull().references(projectId),
      providerUid: text('provider_uid').notNull().references(providerUid, { onDelete: 'cascade' }),
      name: text('name').notNull(),
      scopes: json<readonly string[]>('scopes'),
      sharedWith: json<SharedWith>('shared_with').notNull(),
      mac: text('mac'),
      createdAt: whole('created_at').notNull(),
      updatedAt: whole('updated_at').notNull(),
    },
    (t) => [
      uniqueIndex('shared_connections_name').on(t.projectId, t.providerUid, t.name),
      index('shared_connections_of_project').on(t.projectId, t.id),
      index('shared_connections_of_provider').on(t.providerUid),
    ],
  )

  return { sharedConnections }
}
