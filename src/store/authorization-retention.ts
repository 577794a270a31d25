import { and, eq, gt, inArray, isNotNull, isNull, lt, lte, or, sql } from 'drizzle-orm'
import type { Authorization } from '../domain/authorization.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Sealed } from '../domain/sealed.ts'
import { overAllOwners } from './all-owners.ts'
import { authorizationConditions } from './authorization-conditions.ts'
import { type AuthorizationRow, NO_RESPONSE, toAuthorization } from './authorization-row.ts'
import type { Database } from './database.ts'
import type { OfUser } from './statement.ts'
import { deleteInSlices, inSlices, sweepInSlices } from './sweep.ts'

/** A response that waits for its user, with the secrets of its attempt. The authorization may have failed as expired. */
export interface HeldResponse {
  readonly authorization: Authorization
  readonly response: Sealed
  readonly secrets: Sealed
}

/** The part of `Authorizations` that deletes them, or the responses that they hold. */
export interface AuthorizationRetention {
  /** Deletes all authorizations of one user; returns how many. */
  forgetUser(projectId: string, userId: string): Promise<number>
  /** The held responses whose deadline has come, at most `limit`. */
  overdueResponses(now: EpochSeconds, limit: number): Promise<readonly HeldResponse[]>
  /** The held responses of a project, or of one user in it, at most `limit`. */
  heldResponses(
    projectId: string,
    userId: string | undefined,
    limit: number,
  ): Promise<readonly HeldResponse[]>
  /** Deletes the held responses whose deadline has come, so that their users may start again; returns how many. */
  forgetResponses(now: EpochSeconds): Promise<number>
  /** Deletes the authorizations that expired before `before`, unless they were settled later; returns how many. */
  sweep(before: EpochSeconds): Promise<number>
}

export function createRetention(database: Database): AuthorizationRetention {
  const { tables, query, statement, read, write, dialect } = database
  const { authorizations } = tables
  const { isOfUser } = authorizationConditions(database)

  const isOverdue = (now: EpochSeconds) =>
    and(isNotNull(authorizations.response), lte(authorizations.deadline, now))
  const overdue = overAllOwners(database, authorizations, (p: { now: EpochSeconds; limit: number }, part) =>
    query
      .select()
      .from(authorizations)
      .where(and(isOverdue(p.now), part))
      .limit(p.limit),
  )
  // the comparison of the deadline has the index of held responses used
  const held = statement((p: { projectId: string; limit: number }) =>
    query
      .select()
      .from(authorizations)
      .where(
        and(
          isNotNull(authorizations.response),
          gt(authorizations.deadline, 0),
          eq(authorizations.projectId, p.projectId),
        ),
      )
      .limit(p.limit),
  )
  const heldOfUser = statement((p: OfUser & { limit: number }) =>
    query
      .select()
      .from(authorizations)
      .where(and(isOfUser(p), isNotNull(authorizations.response)))
      .limit(p.limit),
  )
  // one that has failed keeps its hashes, so that a late browser is shown the outcome
  const isFailed = eq(authorizations.status, 'failed')
  const forget = overAllOwners(database, authorizations, (p: { now: EpochSeconds }, part) => {
    const isOver = and(isOverdue(p.now), part)
    const some = query
      .select({ id: authorizations.id })
      .from(authorizations)
      .where(isOver)
      .limit(dialect.sweptAtOnce)
    return query
      .update(authorizations)
      .set({
        ...NO_RESPONSE,
        stateHash: sql`case when ${isFailed} then ${authorizations.stateHash} end`,
        status: sql`case when ${isFailed} then ${authorizations.status} else ${NO_RESPONSE.status} end`,
      })
      .where(and(inArray(authorizations.id, some), isOver))
      .returning({ id: authorizations.id })
  })
  // the index of `expiresAt` alone is enough: nearly all are settled before they expire or soon after
  const sweep = sweepInSlices(
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
    async overdueResponses(now, limit) {
      return (await overdue({ now, limit }, read)).flatMap(toHeld)
    },
    async heldResponses(projectId, userId, limit) {
      const statement =
        userId === undefined ? held({ projectId, limit }) : heldOfUser({ projectId, userId, limit })
      return (await read(statement)).flatMap(toHeld)
    },
    async forgetResponses(now) {
      return inSlices(() => forget({ now }, (some) => write(undefined, () => some)))
    },
    async sweep(before) {
      return sweep({ before })
    },
  }
}

function toHeld(row: AuthorizationRow): HeldResponse[] {
  const { response, secrets } = row
  if (response === undefined || secrets === undefined) return []
  return [{ authorization: toAuthorization(row), response, secrets }]
}
