import { and, inArray, isNotNull, isNull, lt, lte, or } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import { authorizationConditions } from './authorization-conditions.ts'
import { NO_RESPONSE } from './authorization-row.ts'
import type { Database } from './database.ts'
import { inSlices } from './sweep.ts'

/** The part of `Authorizations` that deletes them, or what they hold. */
export interface AuthorizationRetention {
  /** Deletes all of one user; returns how many. */
  forgetUser(projectId: string, userId: string): Promise<number>
  /** Deletes the responses whose deadline has come; their users may start again. Returns how many. */
  forgetResponses(now: EpochSeconds): Promise<number>
  /** Deletes what had expired before `before`, and was settled before it or not at all; returns how many. */
  sweep(before: EpochSeconds): Promise<number>
}

export function createRetention(database: Database): AuthorizationRetention {
  const { tables, query, statement, write, writeRepeatable, dialect } = database
  const { authorizations } = tables
  const { isOfUser } = authorizationConditions(database)

  const forget = statement((p: { now: EpochSeconds }) => {
    const isOver = and(isNotNull(authorizations.response), lte(authorizations.deadline, p.now))
    const held = query
      .select({ id: authorizations.id })
      .from(authorizations)
      .where(isOver)
      .limit(dialect.sweptAtOnce)
    return query
      .update(authorizations)
      .set(NO_RESPONSE)
      .where(and(inArray(authorizations.id, held), isOver))
      .returning({ id: authorizations.id })
  })
  // one index serves those that were settled too: most are settled before they expire, and the few others soon after
  const sweep = statement((p: { before: EpochSeconds }) => {
    const isOld = and(
      lt(authorizations.expiresAt, p.before),
      or(isNull(authorizations.completedAt), lt(authorizations.completedAt, p.before)),
    )
    const old = query
      .select({ id: authorizations.id })
      .from(authorizations)
      .where(isOld)
      .limit(dialect.sweptAtOnce)
    return query
      .delete(authorizations)
      .where(and(inArray(authorizations.id, old), isOld))
      .returning({ id: authorizations.id })
  })
  const forgetUser = statement((p: { projectId: string; userId: string }) => {
    const some = query
      .select({ id: authorizations.id })
      .from(authorizations)
      .where(isOfUser(p))
      .limit(dialect.sweptAtOnce)
    return query
      .delete(authorizations)
      .where(and(inArray(authorizations.id, some), isOfUser(p)))
      .returning({ id: authorizations.id })
  })

  return {
    async forgetUser(projectId, userId) {
      return inSlices(dialect.sweptAtOnce, () => writeRepeatable(forgetUser({ projectId, userId })))
    },
    async forgetResponses(now) {
      return inSlices(dialect.sweptAtOnce, () => write(undefined, () => forget({ now })))
    },
    async sweep(before) {
      return inSlices(dialect.sweptAtOnce, () => write(undefined, () => sweep({ before })))
    },
  }
}
