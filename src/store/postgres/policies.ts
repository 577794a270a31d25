import { and, eq } from 'drizzle-orm'
import { policyRow, toPolicy } from '../rows.ts'
import type { Policies } from '../tool-nouns.ts'
import type { PostgresContext } from './database.ts'
import { policies } from './schema.ts'

export function postgresPolicies({ db, write }: PostgresContext): Policies {
  const named = (projectId: string, id: string) => and(eq(policies.projectId, projectId), eq(policies.id, id))

  return {
    async put(policy, audit) {
      const row = policyRow(policy)
      await write(audit, async (tx, announce) => {
        await tx.insert(policies).values(row).onConflictDoUpdate({ target: policies.uid, set: row })
        announce({ noun: 'policy' })
        return true
      })
    },
    async find(projectId, id) {
      const [row] = await db.select().from(policies).where(named(projectId, id))
      return row && toPolicy(row)
    },
    async list(projectId) {
      const rows = await db
        .select()
        .from(policies)
        .where(eq(policies.projectId, projectId))
        .orderBy(policies.id)
      return rows.map(toPolicy)
    },
    async delete(projectId, id, audit) {
      return write(audit, async (tx, announce) => {
        const { rowCount } = await tx.delete(policies).where(named(projectId, id))
        const isGone = (rowCount ?? 0) > 0
        if (isGone) announce({ noun: 'policy' })
        return isGone
      })
    },
  }
}
