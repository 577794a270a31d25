import { and, eq, gt } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Database } from './database.ts'
import { inPartition } from './partitions.ts'
import { hasId, isOfUser } from './row-conditions.ts'
import type { ById, OfUser } from './statement.ts'

/** The conditions by which statements select authorizations. */
export function authorizationConditions({ tables: { authorizations } }: Pick<Database, 'tables'>) {
  const unexpired = (now: EpochSeconds) => gt(authorizations.expiresAt, now)
  const hasState = (p: { stateHash: string }) =>
    and(eq(authorizations.stateHash, p.stateHash), inPartition(authorizations, p))
  const hasFlow = (p: { flowHash: string }) =>
    and(eq(authorizations.flowHash, p.flowHash), inPartition(authorizations, p))
  return {
    unexpired,
    hasId: (p: ById) => hasId(authorizations, p),
    hasState,
    hasFlow,
    isOfUser: (p: OfUser) => isOfUser(authorizations, p),
  }
}
