import { and, eq, sql } from 'drizzle-orm'
import type { ProviderEntry } from '../../providers/provider.ts'
import { present, providerRow } from '../rows.ts'
import type { Providers } from '../store.ts'
import { reidentify } from './connections.ts'
import type { PostgresContext, Transaction } from './database.ts'
import { providers } from './schema.ts'

export function postgresProviders({ db, write }: PostgresContext): Providers {
  const byUid = db
    .select()
    .from(providers)
    .where(eq(providers.uid, sql.placeholder('uid')))
    .prepare('provider_by_uid')
  const byId = db
    .select()
    .from(providers)
    .where(
      and(eq(providers.projectId, sql.placeholder('projectId')), eq(providers.id, sql.placeholder('id'))),
    )
    .prepare('provider_by_id')

  return {
    async add(entry, audit) {
      const added = await write(audit, async (tx, announce) => {
        const [row] = await tx.insert(providers).values(providerRow(entry)).onConflictDoNothing().returning()
        if (row !== undefined) announce({ noun: 'provider' })
        return row
      })
      return added && present(added)
    },
    async put(entry, audit, kept) {
      await write(audit, async (tx, announce) => {
        await tx.update(providers).set(providerRow(entry)).where(eq(providers.uid, entry.uid))
        if (kept !== undefined)
          await reidentify(tx, { projectId: entry.projectId, providerUid: entry.uid }, kept)
        announce({ noun: 'provider' })
        return true
      })
    },
    async findByUid(uid) {
      const [row] = await byUid.execute({ uid })
      return row && present(row)
    },
    async findById(projectId, id) {
      const [row] = await byId.execute({ projectId, id })
      return row && present(row)
    },
    async list(projectId) {
      const rows = await db
        .select()
        .from(providers)
        .where(eq(providers.projectId, projectId))
        .orderBy(providers.uid)
      return rows.map(present)
    },
    async delete(projectId, id, audit) {
      return write(audit, async (tx, announce) => {
        const gone = await tx
          .delete(providers)
          .where(and(eq(providers.projectId, projectId), eq(providers.id, id)))
          .returning({ uid: providers.uid })
        if (gone.length > 0) announce({ noun: 'provider' })
        return gone.length > 0
      })
    },
  }
}

/** Adds the entry, or replaces the one with its `uid`. */
export async function putProvider(tx: Transaction, entry: ProviderEntry): Promise<void> {
  const row = providerRow(entry)
  await tx.insert(providers).values(row).onConflictDoUpdate({ target: providers.uid, set: row })
}
