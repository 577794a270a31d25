import type { Sealed } from '../../domain/sealed.ts'
import type { CoreTables } from '../../store/schema.ts'
import type { SchemaKit } from '../../store/schema-kit.ts'

export function describeCodeTables(
  { table, text, whole, index }: SchemaKit,
  { projects }: Pick<CoreTables, 'projects'>,
) {
  const pausedCode = table(
    'paused_code',
    {
      id: text('id').primaryKey(),
      projectId: text('project_id')
        .notNull()
        .references(() => projects.id),
      userId: text('user_id'),
      state: text('state').$type<Sealed>().notNull(),
      runningUntil: whole('running_until'),
      expiresAt: whole('expires_at').notNull(),
    },
    (t) => [
      index('paused_code_expiry').on(t.expiresAt),
      index('paused_code_of_project').on(t.projectId, t.expiresAt),
      index('paused_code_of_user').on(t.projectId, t.userId),
    ],
  )
  return { pausedCode }
}
