import { and, desc, eq, notInArray } from 'drizzle-orm'
import { toolAliases as aliasesOf, type Tool } from '../../domain/tool.ts'
import { toolRow, toTool } from '../rows.ts'
import type { Tools } from '../tool-nouns.ts'
import type { PostgresContext, Transaction } from './database.ts'
import { putProvider } from './providers.ts'
import { toolAliases, tools } from './schema.ts'

export function postgresTools({ db, write }: PostgresContext): Tools {
  return {
    async put(tool, entries = [], audit) {
      await write(audit, async (tx, announce) => {
        for (const entry of entries) await putProvider(tx, entry)
        await putTool(tx, tool)
        announce({ noun: 'tool' })
        if (entries.length > 0) announce({ noun: 'provider' })
        return true
      })
    },
    async named(projectId, alias) {
      const rows = await db
        .select({ tool: tools })
        .from(toolAliases)
        .innerJoin(tools, eq(tools.uid, toolAliases.toolUid))
        .where(and(eq(toolAliases.projectId, projectId), eq(toolAliases.alias, alias)))
        .orderBy(desc(tools.uid))
      return rows.map(({ tool }) => toTool(tool))
    },
    async list(projectId) {
      const rows = await db.select().from(tools).where(eq(tools.projectId, projectId)).orderBy(tools.uid)
      return rows.map(toTool)
    },
    async replaceOfWorker(projectId, workerUid, replacement, audit) {
      const uids = replacement.map((tool) => tool.uid)
      await write(audit, async (tx, announce) => {
        await tx
          .delete(tools)
          .where(
            and(eq(tools.projectId, projectId), eq(tools.workerUid, workerUid), notInArray(tools.uid, uids)),
          )
        for (const tool of replacement) await putTool(tx, tool)
        announce({ noun: 'tool' })
        return true
      })
    },
    async delete(uid, audit) {
      await write(audit, async (tx, announce) => {
        const gone = await tx.delete(tools).where(eq(tools.uid, uid)).returning({ uid: tools.uid })
        if (gone.length > 0) announce({ noun: 'tool' })
        return gone.length > 0
      })
    },
  }
}

async function putTool(tx: Transaction, tool: Tool): Promise<void> {
  const row = toolRow(tool)
  await tx.insert(tools).values(row).onConflictDoUpdate({ target: tools.uid, set: row })
  await tx.delete(toolAliases).where(eq(toolAliases.toolUid, tool.uid))
  const { projectId, uid: toolUid } = tool
  await tx.insert(toolAliases).values(aliasesOf(tool).map((alias) => ({ projectId, alias, toolUid })))
}
