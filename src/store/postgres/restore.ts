import { and, eq, inArray, isNotNull, lte, sql } from 'drizzle-orm'
import { NOT_RUN_AGAIN, SETTLED, UNSETTLED } from '../rows.ts'
import { BACKUP_FACT, type Store } from '../store.ts'
import type { PostgresContext } from './database.ts'
import { authorizations, chains, connections, executions, facts } from './schema.ts'

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
        .where(inArray(authorizations.status, UNSETTLED))
      const runs = await tx
        .update(executions)
        .set({ ...NOT_RUN_AGAIN, finishedAt: now, updatedAt: now })
        .where(and(inArray(executions.status, ['scheduled', 'running']), lte(executions.runAt, now)))
      await tx.delete(chains)
      return {
        takenAt: Number(fact.value),
        connections: refreshable.rowCount ?? 0,
        authorizations: underWay.rowCount ?? 0,
        runs: runs.rowCount ?? 0,
      }
    })
}
