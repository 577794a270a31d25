import { and, eq, sql } from 'drizzle-orm'
import { policyRow, toPolicy } from '../rows.ts'
import type { Policies } from '../tool-nouns.ts'
import type { PostgresContext, Transaction } from './database.ts'
import { policies, projects } from './schema.ts'

export function postgresPolicies({ db, write }: PostgresContext): Policies {
  const named = (projectId: string, id: string) => and(eq(policies.projectId, projectId), eq(policies.id, id))

  const list = async (projectId: string) =>
    (await db.select().from(policies).where(eq(policies.projectId, projectId)).orderBy(policies.id)).map(
      toPolicy,
    )

  return {
    list,
    async put(policy, audit) {
      const row = policyRow(policy)
      await write(audit, async (tx, announce) => {
        await tx.insert(policies).values(row).onConflictDoUpdate({ target: policies.uid, set: row })
        await raiseVersion(tx, policy.projectId)
        announce({ noun: 'policy' })
        return true
      })
    },
    async find(projectId, id) {
      const [row] = await db.select().from(policies).where(named(projectId, id))
      return row && toPolicy(row)
    },
    async inForce(projectId) {
      // the version first: a list that is newer than its version is looked up again at the release
      const [row] = await db
        .select({ version: projects.policiesVersion })
        .from(projects)
        .where(eq(projects.id, projectId))
      const all = await list(projectId)
      return { version: row?.version ?? 0, policies: all.filter(({ enabled }) => enabled) }
    },
    async delete(projectId, id, audit) {
      return write(audit, async (tx, announce) => {
        const { rowCount } = await tx.delete(policies).where(named(projectId, id))
        const isGone = (rowCount ?? 0) > 0
        if (isGone) {
          await raiseVersion(tx, projectId)
          announce({ noun: 'policy' })
        }
        return isGone
      })
    },
  }
}

async function raiseVersion(tx: Transaction, projectId: string): Promise<void> {
  await tx
    .update(projects)
    .set({ policiesVersion: sql`${projects.policiesVersion} + 1` })
    .where(eq(projects.id, projectId))
}
