import { and, eq, inArray, isNotNull, sql } from 'drizzle-orm'
import { SETTLED } from '../rows.ts'
import { BACKUP_FACT, type Store } from '../store.ts'
import type { PostgresContext } from './database.ts'
import { authorizations, connections, facts } from './schema.ts'

export function postgresSettleRestore({ write }: PostgresContext): Store['settleRestore'] {
  return async (message, now) =>
    write(undefined, async (tx) => {
      const [fact] = await tx.delete(facts).where(eq(facts.name, BACKUP_FACT)).returning()
      if (fact === undefined) return undefined
      const refreshable = await tx
        .update(connections)
        .set({
          leaseOwner: null,
          leaseUntil: null,
          unansweredRefreshes: sql`${connections.unansweredRefreshes} + 1`,
        })
        .where(and(isNotNull(connections.refresh), eq(connections.status, 'active')))
      const underWay = await tx
        .update(authorizations)
        .set({ ...SETTLED, status: 'failed', reason: 'expired', message, completedAt: now })
        .where(inArray(authorizations.status, ['pending', 'confirming', 'exchanging']))
      return {
        takenAt: Number(fact.value),
        connections: refreshable.rowCount ?? 0,
        authorizations: underWay.rowCount ?? 0,
      }
    })
}
