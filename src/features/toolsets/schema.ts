import type { CoreTables } from '../../store/schema.ts'
import type { SchemaKit } from '../../store/schema-kit.ts'

/** Selections of tools. */
export function describeToolsetTables(
  { table, text, whole, json, primaryKey }: SchemaKit,
  { projects }: Pick<CoreTables, 'projects'>,
) {
  const toolsets = table(
    'toolsets',
    {
      projectId: text('project_id')
        .notNull()
        .references(() => projects.id),
      id: text('id').notNull(),
      tools: json<readonly string[]>('tools'),
      /** The source of each tool of `tools` that existed when it was named, by its text there. */
      toolSources: json<Readonly<Record<string, string>>>('tool_sources'),
      namespaces: json<readonly string[]>('namespaces'),
      tags: json<readonly string[]>('tags'),
      providers: json<readonly string[]>('providers'),
      names: text('names').$type<'prefixed' | 'bare'>().notNull(),
      instructions: text('instructions'),
      listing: text('listing').$type<'all' | 'search'>(),
      /** Where `names` is `bare`: the permanent name of each tool, by `namespace:name` in lower case. */
      bareNames: json<Readonly<Record<string, string>>>('bare_names'),
      mac: text('mac'),
      createdAt: whole('created_at').notNull(),
      updatedAt: whole('updated_at').notNull(),
    },
    (t) => [primaryKey({ columns: [t.projectId, t.id] })],
  )

  return { toolsets }
}
