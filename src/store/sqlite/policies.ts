import { and, eq, sql } from 'drizzle-orm'
import { policyRow, toPolicy } from '../rows.ts'
import type { Policies } from '../tool-nouns.ts'
import type { SqliteContext, Transaction } from './database.ts'
import { policies, projects } from './schema.ts'

export function sqlitePolicies({ db, write }: SqliteContext): Policies {
  const named = (projectId: string, id: string) => and(eq(policies.projectId, projectId), eq(policies.id, id))

  const list = (projectId: string) =>
    db
      .select()
      .from(policies)
      .where(eq(policies.projectId, projectId))
      .orderBy(policies.id)
      .all()
      .map(toPolicy)

  return {
    async put(policy, audit) {
      const row = policyRow(policy)
      write(audit, (tx, announce) => {
        tx.insert(policies).values(row).onConflictDoUpdate({ target: policies.uid, set: row }).run()
        raiseVersion(tx, policy.projectId)
        announce({ noun: 'policy' })
        return true
      })
    },
    async find(projectId, id) {
      const row = db.select().from(policies).where(named(projectId, id)).get()
      return row && toPolicy(row)
    },
    async list(projectId) {
      return list(projectId)
    },
    async inForce(projectId) {
      // the version first: a list that is newer than its version is looked up again at the release
      const row = db
        .select({ version: projects.policiesVersion })
        .from(projects)
        .where(eq(projects.id, projectId))
        .get()
      return { version: row?.version ?? 0, policies: list(projectId).filter(({ enabled }) => enabled) }
    },
    async delete(projectId, id, audit) {
      return write(audit, (tx, announce) => {
        const { changes } = tx.delete(policies).where(named(projectId, id)).run()
        if (changes > 0) {
          raiseVersion(tx, projectId)
          announce({ noun: 'policy' })
        }
        return changes > 0
      })
    },
  }
}

function raiseVersion(tx: Transaction, projectId: string): void {
  tx.update(projects)
    .set({ policiesVersion: sql`${projects.policiesVersion} + 1` })
    .where(eq(projects.id, projectId))
    .run()
}
