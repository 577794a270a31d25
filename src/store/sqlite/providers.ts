import { and, eq, sql } from 'drizzle-orm'
import type { ProviderEntry } from '../../providers/provider.ts'
import { present, providerRow } from '../rows.ts'
import type { Providers } from '../store.ts'
import { reidentify } from './connections.ts'
import type { SqliteContext } from './database.ts'
import { providers } from './schema.ts'

export function sqliteProviders({ db, write }: SqliteContext): Providers {
  const byUid = db
    .select()
    .from(providers)
    .where(eq(providers.uid, sql.placeholder('uid')))
    .prepare()
  const byId = db
    .select()
    .from(providers)
    .where(
      and(eq(providers.projectId, sql.placeholder('projectId')), eq(providers.id, sql.placeholder('id'))),
    )
    .prepare()

  return {
    async add(entry, audit) {
      const added = write(audit, (tx, announce) => {
        const row = tx.insert(providers).values(providerRow(entry)).onConflictDoNothing().returning().get()
        if (row !== undefined) announce({ noun: 'provider' })
        return row
      })
      return added && present(added)
    },
    async put(entry, audit, kept) {
      write(audit, (tx, announce) => {
        tx.update(providers).set(providerRow(entry)).where(eq(providers.uid, entry.uid)).run()
        if (kept !== undefined) reidentify(tx, { projectId: entry.projectId, providerUid: entry.uid }, kept)
        announce({ noun: 'provider' })
        return true
      })
    },
    async findByUid(uid) {
      const row = byUid.get({ uid })
      return row && present(row)
    },
    async findById(projectId, id) {
      const row = byId.get({ projectId, id })
      return row && present(row)
    },
    async list(projectId) {
      const rows = db
        .select()
        .from(providers)
        .where(eq(providers.projectId, projectId))
        .orderBy(providers.uid)
        .all()
      return rows.map(present)
    },
    async delete(projectId, id, audit) {
      return write(audit, (tx, announce) => {
        const { changes } = tx
          .delete(providers)
          .where(and(eq(providers.projectId, projectId), eq(providers.id, id)))
          .run()
        if (changes > 0) announce({ noun: 'provider' })
        return changes > 0
      })
    },
  }
}

/** Adds the entry, or replaces the one with its `uid`. */
export function putProvider(tx: Pick<SqliteContext['db'], 'insert'>, entry: ProviderEntry): void {
  const row = providerRow(entry)
  tx.insert(providers).values(row).onConflictDoUpdate({ target: providers.uid, set: row }).run()
}
