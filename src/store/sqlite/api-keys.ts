import { and, eq, isNull, sql } from 'drizzle-orm'
import { present } from '../rows.ts'
import type { ApiKeys } from '../store.ts'
import type { SqliteContext } from './database.ts'
import { apiKeys } from './schema.ts'

export function sqliteApiKeys({ db, write }: SqliteContext): ApiKeys {
  const byHash = db
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.hash, sql.placeholder('hash')), isNull(apiKeys.revokedAt)))
    .prepare()

  return {
    async add(key, audit) {
      write(audit, (tx, announce) => {
        const { changes } = tx.insert(apiKeys).values(key).onConflictDoNothing().run()
        if (changes > 0) announce({ noun: 'api_key' })
        return changes > 0
      })
    },
    async findByHash(hash) {
      const row = byHash.get({ hash })
      return row && present(row)
    },
    async list(projectId) {
      return db
        .select()
        .from(apiKeys)
        .where(eq(apiKeys.projectId, projectId))
        .orderBy(apiKeys.id)
        .all()
        .map(present)
    },
    async revoke(projectId, id, now, audit) {
      return write(audit, (tx, announce) => {
        const { changes } = tx
          .update(apiKeys)
          .set({ revokedAt: now, mac: null })
          .where(and(eq(apiKeys.projectId, projectId), eq(apiKeys.id, id), isNull(apiKeys.revokedAt)))
          .run()
        if (changes > 0) announce({ noun: 'api_key' })
        return changes > 0
      })
    },
    async rotate({ projectId, id, mac = null }, expiresAt, successor, audit) {
      return write(audit, (tx, announce) => {
        const { changes } = tx
          .update(apiKeys)
          .set({ expiresAt, replacedBy: successor.id, mac })
          .where(
            and(
              eq(apiKeys.projectId, projectId),
              eq(apiKeys.id, id),
              isNull(apiKeys.revokedAt),
              isNull(apiKeys.replacedBy),
            ),
          )
          .run()
        if (changes === 0) return false
        tx.insert(apiKeys).values(successor).run()
        announce({ noun: 'api_key' })
        return true
      })
    },
    async sign(id, mac) {
      return write(undefined, (tx) => tx.update(apiKeys).set({ mac }).where(eq(apiKeys.id, id)).run().changes)
    },
    async used(uses) {
      db.transaction((tx) => {
        for (const [id, at] of uses)
          tx.update(apiKeys).set({ lastUsedAt: at }).where(eq(apiKeys.id, id)).run()
      })
    },
  }
}
