import { and, eq, sql } from 'drizzle-orm'
import { present } from '../rows.ts'
import type { Secrets } from '../tool-nouns.ts'
import type { SqliteContext } from './database.ts'
import { secrets } from './schema.ts'

export function sqliteSecrets({ db, write }: SqliteContext): Secrets {
  const ofKey = (projectId: string, key: string) =>
    and(eq(secrets.projectId, projectId), sql`lower(${secrets.key}) = ${key.toLowerCase()}`)

  return {
    async put(secret, audit) {
      const row = write(audit, (tx, announce) => {
        const { value, updatedAt, description = null } = secret
        const updated = tx
          .update(secrets)
          .set({ value, updatedAt, description })
          .where(and(ofKey(secret.projectId, secret.key), eq(secrets.id, secret.id)))
          .returning()
          .get()
        // the value is sealed for its own id, so that it cannot take another row's place
        const put = updated ?? tx.insert(secrets).values(secret).onConflictDoNothing().returning().get()
        if (put !== undefined) announce({ noun: 'secret' })
        return put
      })
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
    async delete(projectId, id, audit) {
      return write(audit, (tx, announce) => {
        const { changes } = tx
          .delete(secrets)
          .where(and(eq(secrets.projectId, projectId), eq(secrets.id, id)))
          .run()
        if (changes > 0) announce({ noun: 'secret' })
        return changes > 0
      })
    },
  }
}
