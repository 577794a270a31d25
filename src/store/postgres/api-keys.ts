import { and, eq, isNull, sql } from 'drizzle-orm'
import { present } from '../rows.ts'
import type { ApiKeys } from '../store.ts'
import type { PostgresContext } from './database.ts'
import { apiKeys } from './schema.ts'
import { latest } from './uses.ts'

export function postgresApiKeys({ db, write }: PostgresContext): ApiKeys {
  const byHash = db
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.hash, sql.placeholder('hash')), isNull(apiKeys.revokedAt)))
    .prepare('api_key_by_hash')

  return {
    async add(key, audit) {
      await write(audit, async (tx, announce) => {
        const added = await tx.insert(apiKeys).values(key).onConflictDoNothing().returning({ id: apiKeys.id })
        if (added.length > 0) announce({ noun: 'api_key' })
        return added.length > 0
      })
    },
    async findByHash(hash) {
      const [row] = await byHash.execute({ hash })
      return row && present(row)
    },
    async list(projectId) {
      const rows = await db.select().from(apiKeys).where(eq(apiKeys.projectId, projectId)).orderBy(apiKeys.id)
      return rows.map(present)
    },
    async revoke(projectId, id, now, audit) {
      return write(audit, async (tx, announce) => {
        const revoked = await tx
          .update(apiKeys)
          .set({ revokedAt: now, mac: null })
          .where(and(eq(apiKeys.projectId, projectId), eq(apiKeys.id, id), isNull(apiKeys.revokedAt)))
          .returning({ id: apiKeys.id })
        if (revoked.length > 0) announce({ noun: 'api_key' })
        return revoked.length > 0
      })
    },
    async rotate({ projectId, id, mac = null }, expiresAt, successor, audit) {
      return write(audit, async (tx, announce) => {
        const replaced = await tx
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
          .returning({ id: apiKeys.id })
        if (replaced.length === 0) return false
        await tx.insert(apiKeys).values(successor)
        announce({ noun: 'api_key' })
        return true
      })
    },
    async sign(id, mac) {
      const signed = await write(undefined, (tx) => tx.update(apiKeys).set({ mac }).where(eq(apiKeys.id, id)))
      return signed.rowCount ?? 0
    },
    async used(uses) {
      await write(undefined, (tx) => tx.execute(latest('api_keys', 'last_used_at', uses)))
    },
  }
}
