import { and, desc, eq, gt, inArray, isNotNull } from 'drizzle-orm'
import type { Authorization } from '../domain/authorization.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { AuditEntries } from './audit-entries.ts'
import { type AuthorizationAttempts, createAttempts } from './authorization-attempts.ts'
import { authorizationConditions } from './authorization-conditions.ts'
import { type AuthorizationFailures, createFailures } from './authorization-failures.ts'
import { type AuthorizationRedemption, createRedemption } from './authorization-redemption.ts'
import { type AuthorizationRetention, createRetention } from './authorization-retention.ts'
import { type AuthorizationRow, toAuthorization, UNSETTLED } from './authorization-row.ts'
import { type Beginning, createBeginning } from './begin-authorizations.ts'
import type { Database } from './database.ts'
import { createDevicePolls, type DevicePolls } from './device-polls.ts'
import { createLastUse, type WriteLastUse } from './last-use.ts'
import type { BoundStatement, ById, OfProject, OfUser } from './statement.ts'
import { withLines } from './trail-column.ts'

/** The columns that only `explain` shows. */
export interface AuthorizationTrail {
  readonly openedAt?: EpochSeconds
  readonly trail?: string
}

/**
 * The broker's records of consents. A transition takes the trail's lines about it (`domain/trail.ts`), and writes them in
 * the same statement.
 */
export interface Authorizations
  extends Beginning,
    AuthorizationAttempts,
    AuthorizationRedemption,
    AuthorizationFailures,
    AuthorizationRetention,
    DevicePolls {
  find(id: string): Promise<Authorization | undefined>
  findByState(stateHash: string): Promise<Authorization | undefined>
  findByFlow(flowHash: string): Promise<Authorization | undefined>
  /** Adds lines to the trail of the authorization, unless it is settled. */
  note(id: string, lines: string, audit?: AuditEntries): Promise<void>
  trail(id: string): Promise<AuthorizationTrail | undefined>
  /** The project's authorizations that have ended and whose `expiresAt` is after `since`, the latest first. */
  endedSince(projectId: string, since: EpochSeconds, limit: number): Promise<readonly Authorization[]>
  /** Authorizations of one user, the oldest first; `after`: the last id of the previous page. */
  ofUser(
    projectId: string,
    userId: string,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<readonly Authorization[]>
  /** Writes when the links of these authorizations were opened. An earlier time that is already stored stays. */
  readonly opened: WriteLastUse
}

export function createAuthorizations(database: Database): Authorizations {
  const { tables, query, statement, read, write } = database
  const { authorizations } = tables
  const { hasId, hasState, hasFlow, isOfUser } = authorizationConditions(database)
  const byId = statement((p: ById) => query.select().from(authorizations).where(hasId(p)))
  const byState = statement((p: { stateHash: string }) =>
    query.select().from(authorizations).where(hasState(p)),
  )
  const byFlow = statement((p: { flowHash: string }) => query.select().from(authorizations).where(hasFlow(p)))
  const note = statement((p: ById & { lines: string }) =>
    query
      .update(authorizations)
      .set({ trail: withLines(authorizations.trail, p.lines) })
      .where(and(hasId(p), inArray(authorizations.status, UNSETTLED)))
      .returning({ id: authorizations.id }),
  )
  const trail = statement((p: ById) =>
    query
      .select({ openedAt: authorizations.openedAt, trail: authorizations.trail })
      .from(authorizations)
      .where(hasId(p)),
  )
  const ended = statement((p: OfProject & { since: EpochSeconds; limit: number }) =>
    query
      .select()
      .from(authorizations)
      .where(
        and(
          gt(authorizations.expiresAt, p.since),
          eq(authorizations.projectId, p.projectId),
          isNotNull(authorizations.completedAt),
        ),
      )
      .orderBy(desc(authorizations.expiresAt))
      .limit(p.limit),
  )
  const ofUser = statement((p: OfUser & { after: string; limit: number }) =>
    query
      .select()
      .from(authorizations)
      .where(and(isOfUser(p), gt(authorizations.id, p.after)))
      .orderBy(authorizations.id)
      .limit(p.limit),
  )

  async function findOne(wanted: BoundStatement<AuthorizationRow>): Promise<Authorization | undefined> {
    const [row] = await read(wanted)
    return row && toAuthorization(row)
  }

  return {
    ...createBeginning(database),
    ...createAttempts(database),
    ...createRedemption(database),
    ...createFailures(database),
    ...createRetention(database),
    ...createDevicePolls(database),
    find: (id) => findOne(byId({ id })),
    findByState: (stateHash) => findOne(byState({ stateHash })),
    findByFlow: (flowHash) => findOne(byFlow({ flowHash })),
    async note(id, lines, audit) {
      await write(audit, () => note({ id, lines }))
    },
    async trail(id) {
      return (await read(trail({ id })))[0]
    },
    async endedSince(projectId, since, limit) {
      return (await read(ended({ projectId, since, limit }))).map(toAuthorization)
    },
    async ofUser(projectId, userId, { after = '', limit }) {
      return (await read(ofUser({ projectId, userId, after, limit }))).map(toAuthorization)
    },
    opened: createLastUse(database, authorizations, 'openedAt', 'first'),
  }
}
