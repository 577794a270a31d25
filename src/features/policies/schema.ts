import type { Sealed } from '../../domain/sealed.ts'
import type { CoreTables } from '../../store/schema.ts'
import type { SchemaKit } from '../../store/schema-kit.ts'
import type { Policy, PolicyHook, PolicyMatch } from './domain.ts'

export function describePolicyTables(kit: SchemaKit, { projects }: Pick<CoreTables, 'projects'>) {
  const { table, text, whole, flag, json, uniqueIndex } = kit

  const sealed = (name: string) => text(name).$type<Sealed>()

  const policies = table(
    'policies',
    {
      /** Made of the project and the id (`policyUid`), since an envelope is bound to one column that identifies the row. */
      uid: text('uid').primaryKey(),
      projectId: text('project_id')
        .notNull()
        .references(() => projects.id),
      id: text('id').notNull(),
      description: text('description'),
      enabled: flag('enabled').notNull(),
      effect: text('effect').$type<Policy['effect']>().notNull(),
      match: json<PolicyMatch>('matches').notNull(),
      hook: json<PolicyHook>('hook'),
      hookSecret: sealed('hook_secret'),
      mac: text('mac'),
      createdAt: whole('created_at').notNull(),
      updatedAt: whole('updated_at').notNull(),
    },
    (t) => [uniqueIndex('policies_id').on(t.projectId, t.id)],
  )
  return { policies }
}
