import { and, count, eq, gt, lt } from 'drizzle-orm'
import type { Chains } from '../tool-nouns.ts'
import type { SqliteContext } from './database.ts'
import { chains } from './schema.ts'

export function sqliteChains({ db, write }: SqliteContext): Chains {
  return {
    async add(chain) {
      db.insert(chains).values(chain).run()
    },
    async take(projectId, id, now) {
      return write(undefined, (tx) =>
        tx
          .delete(chains)
          .where(and(eq(chains.id, id), eq(chains.projectId, projectId), gt(chains.expiresAt, now)))
          .returning()
          .get(),
      )
    },
    async count(projectId, now) {
      const isLive = and(eq(chains.projectId, projectId), gt(chains.expiresAt, now))
      return db.select({ live: count() }).from(chains).where(isLive).get()?.live ?? 0
    },
    async sweep(before) {
      return db.delete(chains).where(lt(chains.expiresAt, before)).run().changes
    },
  }
}
