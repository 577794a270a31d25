import { and, count, eq, gt, lt } from 'drizzle-orm'
import type { Chains } from '../tool-nouns.ts'
import type { PostgresContext } from './database.ts'
import { chains } from './schema.ts'

export function postgresChains({ db, write }: PostgresContext): Chains {
  return {
    async add(chain) {
      await write(undefined, (tx) => tx.insert(chains).values(chain))
    },
    async take(projectId, id, now) {
      return write(undefined, async (tx) => {
        const [taken] = await tx
          .delete(chains)
          .where(and(eq(chains.id, id), eq(chains.projectId, projectId), gt(chains.expiresAt, now)))
          .returning()
        return taken
      })
    },
    async count(projectId, now) {
      const isLive = and(eq(chains.projectId, projectId), gt(chains.expiresAt, now))
      const [row] = await db.select({ live: count() }).from(chains).where(isLive)
      return row?.live ?? 0
    },
    async sweep(before) {
      const { rowCount } = await db.delete(chains).where(lt(chains.expiresAt, before))
      return rowCount ?? 0
    },
  }
}
