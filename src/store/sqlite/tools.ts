import { and, desc, eq, notInArray } from 'drizzle-orm'
import { toolAliases as aliasesOf, type Tool } from '../../domain/tool.ts'
import { toolRow, toTool } from '../rows.ts'
import type { Tools } from '../tool-nouns.ts'
import type { SqliteContext, SqliteDatabase } from './database.ts'
import { putProvider } from './providers.ts'
import { toolAliases, tools } from './schema.ts'

type Writer = Pick<SqliteDatabase, 'insert' | 'delete'>

export function sqliteTools({ db, write }: SqliteContext): Tools {
  return {
    async put(tool, entries = [], audit) {
      write(audit, (tx, announce) => {
        for (const entry of entries) putProvider(tx, entry)
        putTool(tx, tool)
        announce({ noun: 'tool' })
        if (entries.length > 0) announce({ noun: 'provider' })
        return true
      })
    },
    async named(projectId, alias) {
      return db
        .select({ tool: tools })
        .from(toolAliases)
        .innerJoin(tools, eq(tools.uid, toolAliases.toolUid))
        .where(and(eq(toolAliases.projectId, projectId), eq(toolAliases.alias, alias)))
        .orderBy(desc(tools.uid))
        .all()
        .map(({ tool }) => toTool(tool))
    },
    async list(projectId) {
      return db
        .select()
        .from(tools)
        .where(eq(tools.projectId, projectId))
        .orderBy(tools.uid)
        .all()
        .map(toTool)
    },
    async replaceOfWorker(projectId, workerUid, replacement, audit) {
      const uids = replacement.map((tool) => tool.uid)
      write(audit, (tx, announce) => {
        tx.delete(tools)
          .where(
            and(eq(tools.projectId, projectId), eq(tools.workerUid, workerUid), notInArray(tools.uid, uids)),
          )
          .run()
        for (const tool of replacement) putTool(tx, tool)
        announce({ noun: 'tool' })
        return true
      })
    },
    async delete(uid, audit) {
      write(audit, (tx, announce) => {
        const { changes } = tx.delete(tools).where(eq(tools.uid, uid)).run()
        if (changes > 0) announce({ noun: 'tool' })
        return changes > 0
      })
    },
  }
}

function putTool(tx: Writer, tool: Tool): void {
  const row = toolRow(tool)
  tx.insert(tools).values(row).onConflictDoUpdate({ target: tools.uid, set: row }).run()
  tx.delete(toolAliases).where(eq(toolAliases.toolUid, tool.uid)).run()
  const { projectId, uid: toolUid } = tool
  tx.insert(toolAliases)
    .values(aliasesOf(tool).map((alias) => ({ projectId, alias, toolUid })))
    .run()
}
