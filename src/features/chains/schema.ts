import type { Sealed } from '../../domain/sealed.ts'
import type { CoreTables } from '../../store/schema.ts'
import type { SchemaKit } from '../../store/schema-kit.ts'

export function describeChainTables(
  { table, text, whole, index }: SchemaKit,
  { projects }: Pick<CoreTables, 'projects'>,
) {
  const chains = table(
    'chains',
    {
      id: text('id').primaryKey(),
      projectId: text('project_id')
        .notNull()
        .references(() => projects.id),
      state: text('state').$type<Sealed>().notNull(),
      expiresAt: whole('expires_at').notNull(),
    },
    (t) => [index('chains_expiry').on(t.expiresAt), index('chains_of_project').on(t.projectId, t.expiresAt)],
  )
  return { chains }
}
