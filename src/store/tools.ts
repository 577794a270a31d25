import { and, desc, eq, getTableColumns, sql } from 'drizzle-orm'
import { toolAliases as aliasesOf, type Tool } from '../domain/tool.ts'
import type { ProviderEntry } from '../providers/provider.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { Database } from './database.ts'
import { providerUpsert } from './providers.ts'
import type { Tables } from './schema.ts'
import { type OfProject, type Present, placeholdersOf, type Steps } from './statement.ts'
import { writeRow } from './write-row.ts'

export interface Tools {
  /** Adds or replaces the tool with that `uid`, its aliases, and the provider entries that come with it: all or nothing. */
  put(tool: Tool, entries?: readonly ProviderEntry[], audit?: AuditEntries): Promise<void>
  /** All tools that have this alias (lower case), newest first. */
  named(projectId: string, alias: string): Promise<readonly Tool[]>
  list(projectId: string): Promise<readonly Tool[]>
  /** Makes the worker's tools exactly these. */
  replaceOfWorker(
    projectId: string,
    workerUid: string,
    tools: readonly Tool[],
    audit?: AuditEntries,
  ): Promise<void>
  delete(uid: string, audit?: AuditEntries): Promise<void>
}

export function createTools(database: Database): Tools {
  const { tables, query, statement, read, write, dialect } = database
  const { tools, toolAliases } = tables
  const putProvider = providerUpsert(database)

  const ofAlias = statement((p: { projectId: string; alias: string }) =>
    query
      .select(getTableColumns(tools))
      .from(toolAliases)
      .innerJoin(tools, eq(tools.uid, toolAliases.toolUid))
      .where(and(eq(toolAliases.projectId, p.projectId), eq(toolAliases.alias, p.alias)))
      .orderBy(desc(tools.uid)),
  )
  const ofProject = statement((p: OfProject) =>
    query.select().from(tools).where(eq(tools.projectId, p.projectId)).orderBy(tools.uid),
  )
  const upsert = statement((_: typeof tools.$inferInsert) => {
    const row = placeholdersOf(tools)
    return query
      .insert(tools)
      .values(row)
      .onConflictDoUpdate({ target: tools.uid, set: row })
      .returning({ uid: tools.uid })
  })
  const removeAliases = statement((p: { uid: string }) =>
    query.delete(toolAliases).where(eq(toolAliases.toolUid, p.uid)).returning({ alias: toolAliases.alias }),
  )
  const addAlias = statement((_: typeof toolAliases.$inferInsert) =>
    query.insert(toolAliases).values(placeholdersOf(toolAliases)).returning({ alias: toolAliases.alias }),
  )
  const removeOthers = statement((p: { projectId: string; workerUid: string; kept: readonly string[] }) =>
    query
      .delete(tools)
      .where(
        and(
          eq(tools.projectId, p.projectId),
          eq(tools.workerUid, p.workerUid),
          sql`${tools.uid} not in (select value from ${dialect.elementsOf(p.kept)})`,
        ),
      )
      .returning({ uid: tools.uid }),
  )
  const remove = statement((p: { uid: string }) =>
    query.delete(tools).where(eq(tools.uid, p.uid)).returning({ uid: tools.uid }),
  )

  function* put(tool: Tool): Steps<void> {
    yield* upsert(toRow(tool))
    yield* removeAliases(tool)
    const { projectId, uid: toolUid } = tool
    for (const alias of aliasesOf(tool)) yield* addAlias({ projectId, alias, toolUid })
  }

  return {
    async put(tool, entries = [], audit) {
      await write(audit, function* (announce) {
        for (const entry of entries) yield* putProvider(entry)
        yield* put(tool)
        announce({ noun: 'tool' })
        if (entries.length > 0) announce({ noun: 'provider' })
        return true
      })
    },
    async named(projectId, alias) {
      return (await read(ofAlias({ projectId, alias }))).map(toTool)
    },
    async list(projectId) {
      return (await read(ofProject({ projectId }))).map(toTool)
    },
    async replaceOfWorker(projectId, workerUid, replacement, audit) {
      await write(audit, function* (announce) {
        yield* removeOthers({ projectId, workerUid, kept: replacement.map(({ uid }) => uid) })
        for (const tool of replacement) yield* put(tool)
        announce({ noun: 'tool' })
        return true
      })
    },
    async delete(uid, audit) {
      await writeRow(write, audit, { noun: 'tool' }, () => remove({ uid }))
    },
  }
}

function toRow(tool: Tool): Tables['tools']['$inferInsert'] {
  const workerUid = tool.source.kind === 'worker' ? tool.source.workerUid : null
  return { ...tool, version: tool.version ?? '', workerUid }
}

function toTool({ workerUid: _, version, ...row }: Present<Tables['tools']['$inferSelect']>): Tool {
  return { ...row, ...(version !== '' && { version }) }
}
