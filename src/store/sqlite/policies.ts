import { and, eq } from 'drizzle-orm'
import { policyRow, toPolicy } from '../rows.ts'
import type { Policies } from '../tool-nouns.ts'
import type { SqliteContext } from './database.ts'
import { policies } from './schema.ts'

export function sqlitePolicies({ db, write }: SqliteContext): Policies {
  const named = (projectId: string, id: string) => and(eq(policies.projectId, projectId), eq(policies.id, id))

  return {
    async put(policy, audit) {
      const row = policyRow(policy)
      write(audit, (tx, announce) => {
        tx.insert(policies).values(row).onConflictDoUpdate({ target: policies.uid, set: row }).run()
        announce({ noun: 'policy' })
        return true
      })
    },
    async find(projectId, id) {
      const row = db.select().from(policies).where(named(projectId, id)).get()
      return row && toPolicy(row)
    },
    async list(projectId) {
      return db
        .select()
        .from(policies)
        .where(eq(policies.projectId, projectId))
        .orderBy(policies.id)
        .all()
        .map(toPolicy)
    },
    async delete(projectId, id, audit) {
      return write(audit, (tx, announce) => {
        const { changes } = tx.delete(policies).where(named(projectId, id)).run()
        if (changes > 0) announce({ noun: 'policy' })
        return changes > 0
      })
    },
  }
}
