import { and, asc, eq, getTableColumns, gt, lte, notExists, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { AuditEntries } from '../../store/audit-entries.ts'
import type { RulesVersion } from '../../store/audit-trail.ts'
import type { Database } from '../../store/database.ts'
import { hasIdInProject } from '../../store/row-conditions.ts'
import {
  type InProject,
  type OfProject,
  type OfUser,
  placeholdersOf,
  variantsOf,
} from '../../store/statement.ts'
import { deleteInSlices } from '../../store/sweep.ts'
import type { StandingApproval } from './domain.ts'
import { blockOf, hasRulesVersion, isOfWhom, type Whose, whoseOf } from './store-conditions.ts'

/** A user has few; more are not read. */
const MOST = 500

/** Approvals that cover further calls, and blocks of agents. */
export interface StandingApprovals {
  add(standing: StandingApproval, audit: AuditEntries): Promise<void>
  /** Those that count for calls of the agent for the user about the subject. */
  covering(
    of: Pick<StandingApproval, 'projectId' | 'userId' | 'agent' | 'subject'>,
    now: EpochSeconds,
  ): Promise<readonly StandingApproval[]>
  /** The user's blocks of any agents. */
  blocks(
    of: Pick<StandingApproval, 'projectId' | 'userId'>,
    now: EpochSeconds,
  ): Promise<readonly StandingApproval[]>
  find(projectId: string, id: string): Promise<StandingApproval | undefined>
  /**
   * Records that a call uses it, if it still counts by the clock that nodes share, the project's rules have these
   * versions, and the user has not blocked the agent.
   */
  use(
    standing: StandingApproval,
    versions: readonly RulesVersion[],
    now: EpochSeconds,
    audit: AuditEntries,
  ): Promise<boolean>
  /** Those that have not ended, of one user or of the project. */
  list(projectId: string, userId: string | undefined, now: EpochSeconds): Promise<readonly StandingApproval[]>
  remove(projectId: string, id: string, audit: AuditEntries): Promise<boolean>
  sweep(now: EpochSeconds): Promise<number>
  forgetUser(user: OfUser): Promise<unknown>
}

export function createStandingApprovals(database: Database): StandingApprovals {
  const { tables, query, statement, read, write, dialect } = database
  const { standingApprovals: standing, projects } = tables
  const columns = getTableColumns(standing)
  const isLive = (p: OfProject & { now: EpochSeconds }) =>
    and(eq(standing.projectId, p.projectId), gt(standing.expiresAt, p.now))

  const insert = statement((_: StandingApproval) =>
    query.insert(standing).values(placeholdersOf(standing)).returning({ id: standing.id }),
  )
  type OfAgent = OfProject & { userId?: string; agent: string; subject: string; now: EpochSeconds }
  const covering = variantsOf((whose: Whose) =>
    statement((p: OfAgent) =>
      query
        .select(columns)
        .from(standing)
        .where(
          and(
            isOfWhom(standing, whose, p),
            gt(standing.expiresAt, p.now),
            eq(standing.kind, 'approval'),
            eq(standing.agent, p.agent),
            eq(standing.subject, p.subject),
          ),
        )
        .limit(MOST),
    ),
  )
  const one = statement((p: InProject) =>
    query.select(columns).from(standing).where(hasIdInProject(standing, p)),
  )
  const ofProject = statement((p: OfProject & { now: EpochSeconds }) =>
    query.select(columns).from(standing).where(isLive(p)).orderBy(asc(standing.id)).limit(MOST),
  )
  const ofUser = statement((p: OfUser & { now: EpochSeconds }) =>
    query
      .select(columns)
      .from(standing)
      .where(and(isLive(p), eq(standing.userId, p.userId)))
      .orderBy(asc(standing.id))
      .limit(MOST),
  )
  const blocks = variantsOf((whose: Whose) =>
    statement((p: OfProject & { userId?: string; now: EpochSeconds }) =>
      query
        .select(columns)
        .from(standing)
        .where(and(isOfWhom(standing, whose, p), gt(standing.expiresAt, p.now), eq(standing.kind, 'block')))
        .limit(MOST),
    ),
  )
  const use = variantsOf((whose: Whose) =>
    statement((p: InProject & OfAgent & { before: string; version: number }) =>
      query
        .update(standing)
        // writes the old value: a removal at the same moment waits for this, or this statement finds no row
        .set({ expiresAt: sql`${standing.expiresAt}` })
        .where(
          and(
            hasIdInProject(standing, p),
            eq(sql`coalesce(${standing.mac}, '')`, p.before),
            sql`${standing.expiresAt} > (select ${dialect.sharedNow(p.now)})`,
            hasRulesVersion(projects, p),
            notExists(blockOf(database, whose, p)),
          ),
        )
        .returning({ id: standing.id }),
    ),
  )
  const remove = statement((p: InProject) =>
    query.delete(standing).where(hasIdInProject(standing, p)).returning({ id: standing.id }),
  )
  const forget = statement((p: OfUser) =>
    query
      .delete(standing)
      .where(and(eq(standing.projectId, p.projectId), eq(standing.userId, p.userId)))
      .returning({ id: standing.id }),
  )
  const sweep = deleteInSlices(database, standing, { id: standing.id }, (p: { now: EpochSeconds }) =>
    lte(standing.expiresAt, p.now),
  )

  return {
    async add(row, audit) {
      await write(audit, () => insert(row))
    },
    covering: ({ userId, ...of }, now) =>
      read(covering(whoseOf({ userId }))({ ...of, ...(userId !== undefined && { userId }), now })),
    blocks: ({ projectId, userId }, now) =>
      read(blocks(whoseOf({ userId }))({ projectId, ...(userId !== undefined && { userId }), now })),
    use({ id, mac, ...of }, versions, now, audit) {
      const { projectId, userId, agent, subject } = of
      const whose = { projectId, agent, subject, ...(userId !== undefined && { userId }) }
      const p = { id, ...whose, before: mac ?? '', version: versions[0]?.version ?? 0, now }
      return write(audit, function* () {
        return (yield* use(whoseOf(of))(p)).length > 0
      })
    },
    async find(projectId, id) {
      return (await read(one({ projectId, id })))[0]
    },
    list: (projectId, userId, now) =>
      read(userId === undefined ? ofProject({ projectId, now }) : ofUser({ projectId, userId, now })),
    remove: (projectId, id, audit) =>
      write(audit, function* () {
        return (yield* remove({ projectId, id })).length > 0
      }),
    sweep: (now) => sweep({ now }),
    forgetUser: (user) => write(undefined, () => forget(user)),
  }
}
