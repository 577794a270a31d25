import { and, eq, sql } from 'drizzle-orm'
import { present } from '../rows.ts'
import type { Secrets } from '../tool-nouns.ts'
import type { PostgresContext } from './database.ts'
import { secrets } from './schema.ts'
import { latest } from './uses.ts'

export function postgresSecrets({ db, write }: PostgresContext): Secrets {
  const ofKey = (projectId: string, key: string) =>
    and(eq(secrets.projectId, projectId), sql`lower(${secrets.key}) = ${key.toLowerCase()}`)

  return {
    async put(secret, audit) {
      const row = await write(audit, async (tx, announce) => {
        const { value, updatedAt, description = null } = secret
        const [added] = await tx.insert(secrets).values(secret).onConflictDoNothing().returning()
        // the value is sealed for its own id, so that it cannot take another row's place
        const [put] =
          added !== undefined
            ? [added]
            : await tx
                .update(secrets)
                .set({ value, updatedAt, description })
                .where(and(ofKey(secret.projectId, secret.key), eq(secrets.id, secret.id)))
                .returning()
        if (put !== undefined) announce({ noun: 'secret' })
        return put
      })
      return row && present(row)
    },
    async find(projectId, key) {
      const [row] = await db.select().from(secrets).where(ofKey(projectId, key))
      return row && present(row)
    },
    async list(projectId) {
      const rows = await db.select().from(secrets).where(eq(secrets.projectId, projectId)).orderBy(secrets.id)
      return rows.map(present)
    },
    async used(uses) {
      await write(undefined, (tx) => tx.execute(latest('secrets', 'last_accessed_at', uses)))
    },
    async delete(projectId, id, audit) {
      return write(audit, async (tx, announce) => {
        const gone = await tx
          .delete(secrets)
          .where(and(eq(secrets.projectId, projectId), eq(secrets.id, id)))
          .returning({ id: secrets.id })
        if (gone.length > 0) announce({ noun: 'secret' })
        return gone.length > 0
      })
    },
  }
}
