import { and, eq, inArray, isNotNull, lte, sql } from 'drizzle-orm'
import { NOT_RUN_AGAIN, SETTLED, UNSETTLED } from '../rows.ts'
import { BACKUP_FACT, type Store } from '../store.ts'
import type { SqliteContext } from './database.ts'
import { authorizations, chains, connections, executions, facts } from './schema.ts'

export function sqliteSettleRestore({ write }: SqliteContext): Store['settleRestore'] {
  return async (message, now) =>
    write(undefined, (tx) => {
      const isBackup = eq(facts.name, BACKUP_FACT)
      const fact = tx.delete(facts).where(isBackup).returning().get()
      if (fact === undefined) return undefined
      const refreshable = tx
        .update(connections)
        .set({
          leaseOwner: null,
          leaseUntil: null,
          unansweredRefreshes: sql`${connections.unansweredRefreshes} + 1`,
        })
        .where(and(isNotNull(connections.refresh), eq(connections.status, 'active')))
        .run()
      const underWay = tx
        .update(authorizations)
        .set({
          ...SETTLED,
          status: 'failed',
          reason: 'expired',
          message,
          completedAt: now,
        })
        .where(inArray(authorizations.status, UNSETTLED))
        .run()
      const runs = tx
        .update(executions)
        .set({ ...NOT_RUN_AGAIN, finishedAt: now, updatedAt: now })
        .where(and(inArray(executions.status, ['scheduled', 'running']), lte(executions.runAt, now)))
        .run()
      tx.delete(chains).run()
      return {
        takenAt: Number(fact.value),
        connections: refreshable.changes,
        authorizations: underWay.changes,
        runs: runs.changes,
      }
    })
}
