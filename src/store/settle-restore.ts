import { and, eq, inArray, isNotNull, lte, ne, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import { SETTLED, UNSETTLED } from './authorization-row.ts'
import type { Database } from './database.ts'
import { BACKUP_FACT } from './facts.ts'
import { NO_LEASE } from './lease.ts'

export interface SettledRestore {
  /** When the backup was taken. */
  readonly takenAt: EpochSeconds
  /** How many active connections have a refresh token. */
  readonly connections: number
  /** How many authorizations had not settled. */
  readonly authorizations: number
  /** How many scheduled runs were due or under way. */
  readonly runs: number
  /** How many approvals of MCP clients were deleted. */
  readonly mcpConsents: number
}

export type SettleRestore = (message: string, now: EpochSeconds) => Promise<SettledRestore | undefined>

export function createSettleRestore({ tables, query, statement, write }: Database): SettleRestore {
  const { authorizations, chains, connections, connectSessions, executions, facts, suspendedCalls } = tables
  const { mcpConsents, mcpRecords, pageSessions, portalTickets } = tables

  const takeMark = statement((_: object) =>
    query.delete(facts).where(eq(facts.name, BACKUP_FACT)).returning(),
  )
  const countRefreshes = statement((_: object) =>
    query
      .update(connections)
      .set({ ...NO_LEASE, unansweredRefreshes: sql`${connections.unansweredRefreshes} + 1` })
      .where(and(isNotNull(connections.refresh), eq(connections.status, 'active')))
      .returning({ id: connections.id }),
  )
  const failAuthorizations = statement((p: { message: string; now: EpochSeconds }) =>
    query
      .update(authorizations)
      .set({ ...SETTLED, status: 'failed', reason: 'expired', message: p.message, completedAt: p.now })
      .where(inArray(authorizations.status, UNSETTLED))
      .returning({ id: authorizations.id }),
  )
  // such a run may have been carried out after the backup, and a second time is worse than none
  const failRuns = statement((p: { now: EpochSeconds }) =>
    query
      .update(executions)
      .set({
        status: 'failed',
        outcome: 'error',
        errorKind: 'UNKNOWN',
        ...NO_LEASE,
        finishedAt: p.now,
        updatedAt: p.now,
      })
      .where(and(inArray(executions.status, ['scheduled', 'running']), lte(executions.runAt, p.now)))
      .returning({ id: executions.id }),
  )
  const dropChains = statement((_: object) => query.delete(chains).returning({ id: chains.id }))
  const dropCalls = statement((_: object) =>
    query.delete(suspendedCalls).returning({ id: suspendedCalls.id }),
  )

  // users who have logged out or lost a role since the backup must not be logged in again
  const dropSessions = statement((_: object) => query.delete(pageSessions).returning({ id: pageSessions.id }))

  // an approval that was revoked after the backup must not be valid again, so users approve their MCP clients once more
  const dropConsents = statement((_: object) => query.delete(mcpConsents).returning({ id: mcpConsents.id }))
  const dropGrants = statement((_: object) =>
    query.delete(mcpRecords).where(ne(mcpRecords.model, 'Client')).returning({ id: mcpRecords.id }),
  )

  // a link that was used after the backup must not work again
  const dropTickets = statement((_: object) =>
    query.delete(portalTickets).returning({ hash: portalTickets.hash }),
  )

  // a session that has ended since the backup must not begin another authorization
  const dropConnectSessions = statement((_: object) =>
    query.delete(connectSessions).returning({ id: connectSessions.id }),
  )

  return (message, now) =>
    write(undefined, function* () {
      const [mark] = yield* takeMark({})
      if (mark === undefined) return undefined
      const refreshable = yield* countRefreshes({})
      const underWay = yield* failAuthorizations({ message, now })
      const runs = yield* failRuns({ now })
      yield* dropChains({})
      yield* dropCalls({})
      yield* dropSessions({})
      const consents = yield* dropConsents({})
      yield* dropGrants({})
      yield* dropTickets({})
      yield* dropConnectSessions({})
      return {
        takenAt: Number(mark.value),
        connections: refreshable.length,
        authorizations: underWay.length,
        runs: runs.length,
        mcpConsents: consents.length,
      }
    })
}
