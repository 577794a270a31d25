import { and, eq, sql } from 'drizzle-orm'
import type { Secrets } from '../store.ts'
import { present, type SqliteContext } from './database.ts'
import { secrets } from './schema.ts'

export function sqliteSecrets({ db, changed }: SqliteContext): Secrets {
  const ofKey = (projectId: string, key: string) =>
    and(eq(secrets.projectId, projectId), sql`lower(${secrets.key}) = ${key.toLowerCase()}`)

  return {
    async put(secret) {
      const row = db.transaction(
        (tx) => {
          const { value, updatedAt, description = null } = secret
          const updated = tx
            .update(secrets)
            .set({ value, updatedAt, description })
            .where(and(ofKey(secret.projectId, secret.key), eq(secrets.id, secret.id)))
            .returning()
            .get()
          if (updated !== undefined) return updated
          // the value is sealed for its own id, so that it cannot take another row's place
          return tx.insert(secrets).values(secret).onConflictDoNothing().returning().get()
        },
        { behavior: 'immediate' },
      )
      changed({ noun: 'secret' })
      return row && present(row)
    },
    async find(projectId, key) {
      const row = db.select().from(secrets).where(ofKey(projectId, key)).get()
      return row && present(row)
    },
    async list(projectId) {
      return db
        .select()
        .from(secrets)
        .where(eq(secrets.projectId, projectId))
        .orderBy(secrets.id)
        .all()
        .map(present)
    },
    async used(uses) {
      db.transaction((tx) => {
        for (const [id, at] of uses)
          tx.update(secrets).set({ lastAccessedAt: at }).where(eq(secrets.id, id)).run()
      })
    },
    async delete(projectId, id) {
      const { changes } = db
        .delete(secrets)
        .where(and(eq(secrets.projectId, projectId), eq(secrets.id, id)))
        .run()
      changed({ noun: 'secret' })
      return changes > 0
    },
  }
}
