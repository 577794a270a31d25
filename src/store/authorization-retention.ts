import { and, inArray, isNotNull, isNull, lt, lte, or } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import { authorizationConditions } from './authorization-conditions.ts'
import { NO_RESPONSE } from './authorization-row.ts'
import type { Database } from './database.ts'
import { deleteInSlices, inSlices } from './sweep.ts'

/** The part of `Authorizations` that deletes them, or the responses that they hold. */
export interface AuthorizationRetention {
  /** Deletes all authorizations of one user; returns how many. */
  forgetUser(projectId: string, userId: string): Promise<number>
  /** Deletes the held responses whose deadline has come, so that their users may start again; returns how many. */
  forgetResponses(now: EpochSeconds): Promise<number>
  /** Deletes the authorizations that expired before `before`, unless they were settled later; returns how many. */
  sweep(before: EpochSeconds): Promise<number>
}

export function createRetention(database: Database): AuthorizationRetention {
  const { tables, query, statement, write, dialect } = database
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
  // the index of `expiresAt` alone is enough: nearly all are settled before they expire or soon after
  const sweep = deleteInSlices(
    database,
    authorizations,
    { id: authorizations.id },
    (p: { before: EpochSeconds }) =>
      and(
        lt(authorizations.expiresAt, p.before),
        or(isNull(authorizations.completedAt), lt(authorizations.completedAt, p.before)),
      ),
  )
  const forgetUser = deleteInSlices(database, authorizations, { id: authorizations.id }, isOfUser)

  return {
    async forgetUser(projectId, userId) {
      return forgetUser({ projectId, userId })
    },
    async forgetResponses(now) {
      return inSlices(() => write(undefined, () => forget({ now })))
    },
    async sweep(before) {
      return sweep({ before })
    },
  }
}
