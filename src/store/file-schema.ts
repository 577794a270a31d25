import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Sealed } from '../domain/sealed.ts'
import type { SchemaKit } from './schema-kit.ts'

/** The part of `describeTables` for files that tools answered with. */
export function describeFileTables(
  { table, text, whole, index }: SchemaKit,
  projectId: () => AnySQLiteColumn,
) {
  const storedFiles = table(
    'stored_files',
    {
      id: text('id').primaryKey(),
      projectId: text('project_id').notNull().references(projectId),
      userId: text('user_id'),
      caller: text('caller'),
      name: text('name').notNull(),
      contentType: text('content_type').notNull(),
      size: whole('size').notNull(),
      expiresAt: whole('expires_at').notNull(),
      content: text('content').$type<Sealed>().notNull(),
    },
    (t) => [
      index('stored_files_expiry').on(t.expiresAt),
      index('stored_files_of_project').on(t.projectId, t.expiresAt),
      index('stored_files_of_user').on(t.projectId, t.userId),
    ],
  )
  return { storedFiles }
}
