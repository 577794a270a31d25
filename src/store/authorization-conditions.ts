import { and, eq, gt } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Database } from './database.ts'
import { inPartition } from './partitions.ts'
import type { ById } from './statement.ts'

/** Which authorizations a statement concerns. */
export function authorizationConditions({ tables: { authorizations } }: Pick<Database, 'tables'>) {
  const unexpired = (now: EpochSeconds) => gt(authorizations.expiresAt, now)
  const hasId = (p: ById) => and(eq(authorizations.id, p.id), inPartition(authorizations, p))
  const hasState = (p: { stateHash: string }) =>
    and(eq(authorizations.stateHash, p.stateHash), inPartition(authorizations, p))
  const hasFlow = (p: { flowHash: string }) =>
    and(eq(authorizations.flowHash, p.flowHash), inPartition(authorizations, p))
  const isOfUser = (p: { projectId: string; userId: string }) =>
    and(
      eq(authorizations.projectId, p.projectId),
      eq(authorizations.userId, p.userId),
      inPartition(authorizations, p),
    )
  return { unexpired, hasId, hasState, hasFlow, isOfUser }
}
