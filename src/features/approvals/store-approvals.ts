import { and, asc, desc, eq, getTableColumns, gt, isNotNull, lt, lte, notExists, or, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { AuditEntries } from '../../store/audit-entries.ts'
import type { RulesVersion } from '../../store/audit-trail.ts'
import { type Browsed, createBrowse, type ListPosition } from '../../store/browse.ts'
import type { Database } from '../../store/database.ts'
import { createPages, type Page, type PageRequest } from '../../store/page.ts'
import { hasIdInProject } from '../../store/row-conditions.ts'
import {
  type InProject,
  type OfProject,
  type OfUser,
  placeholdersOf,
  type Steps,
  variantsOf,
} from '../../store/statement.ts'
import { deleteInSlices } from '../../store/sweep.ts'
import type { Approval, ApprovalStatus, StandingApproval } from './domain.ts'
import { type AskLimits, createAskLimits } from './store-ask-limits.ts'
import { blockOf, hasRulesVersion, type Whose, whoseOf } from './store-conditions.ts'

export type Begun =
  | { readonly outcome: 'open'; readonly approval: Approval }
  /** The same call was denied a short time ago. */
  | { readonly outcome: 'denied'; readonly approval: Approval }
  /** `altered`: the row of the open question was changed by another program. */
  | { readonly outcome: 'denied often' | 'too many pending' | 'altered' }

export interface ApprovalFilter {
  readonly status?: ApprovalStatus | undefined
  readonly userId?: string | undefined
}

/** Questions to people about calls. */
export interface Approvals {
  /** Puts the question, or returns the open one about the same call. Limits are exact over nodes. */
  begin(approval: Approval, limits: AskLimits, audit: AuditEntries): Promise<Begun>
  find(projectId: string, id: string): Promise<Approval | undefined>
  /** In any project. */
  findById(id: string): Promise<Approval | undefined>
  /** The time by the clock that nodes share. */
  clock(projectId: string, now: EpochSeconds): Promise<EpochSeconds>
  /**
   * Writes a state that follows from `from`; `undefined`, with nothing written, if the row is no longer `from`, or for a
   * decision if the time to decide is over by the clock that nodes share. `remembered`: the standing approval or the block
   * that the last decision gives.
   */
  change(
    from: Approval,
    to: Approval,
    now: EpochSeconds,
    audit: AuditEntries,
    remembered?: StandingApproval,
  ): Promise<Approval | undefined>
  /**
   * Marks an approved one as used, if it still counts by the clock that nodes share, the project's rules have these
   * versions, and the user has not blocked the agent: of two calls one gets it. Also lets another process use what a
   * killed one had begun to use.
   */
  spend(
    from: Approval,
    to: Approval,
    versions: readonly RulesVersion[],
    now: EpochSeconds,
    audit: AuditEntries,
  ): Promise<boolean>
  /** The newest first. */
  page(projectId: string, filter: ApprovalFilter, page: PageRequest): Promise<Page<Approval>>
  /** The newest first, of one status or of all. */
  browse(
    projectId: string,
    status: ApprovalStatus | undefined,
    place: ListPosition,
    limit: number,
  ): Promise<Browsed<Approval>>
  /** The run for which it was used has ended, so that no process goes on with it. */
  ended(from: Approval, to: Approval): Promise<void>
  /** The one that a process has used for a run of this call that may be repeated, if that run has not ended. */
  interrupted(projectId: string, digest: string, now: EpochSeconds): Promise<Approval | undefined>
  /** Open ones whose time is over, in the order of `expiresAt` after `after`. `last`: there may be more after it. */
  overdue(
    status: OpenStatus,
    now: EpochSeconds,
    after: EpochSeconds,
    limit: number,
  ): Promise<{ readonly items: readonly Approval[]; readonly last?: EpochSeconds | undefined }>
  /** Returns when no other transaction is changing it. */
  awaitWriters(projectId: string, id: string): Promise<void>
  /** Deletes the calls of those that ended before this time; returns how many. */
  forgetCalls(before: EpochSeconds): Promise<number>
  /** Deletes those that ended before this time; returns how many. */
  sweep(before: EpochSeconds): Promise<number>
  forgetUser(user: OfUser): Promise<unknown>
}

export const OPEN = ['pending', 'approved'] as const
type OpenStatus = (typeof OPEN)[number]

export function createApprovals(database: Database): Approvals {
  const { tables, query, statement, read, write, dialect, followUp } = database
  const { approvals, standingApprovals, projects } = tables
  const { openKey: _, ...columns } = getTableColumns(approvals)
  type Row = typeof approvals.$inferInsert

  /** Whether the row is open and its time is over. A subquery, so that PostgreSQL reads its clock once. */
  const isOverdue = (p: { now: EpochSeconds }) => {
    const now = sql`(select ${dialect.sharedNow(p.now)})`
    return or(
      and(eq(approvals.status, 'pending'), sql`${approvals.expiresAt} <= ${now}`),
      and(eq(approvals.status, 'approved'), sql`${approvals.useUntil} <= ${now}`),
    )
  }
  const isOfCall = (p: OfProject & { digest: string }) =>
    and(eq(approvals.projectId, p.projectId), eq(approvals.digest, p.digest))
  // nodes ask one after the other in a project, so that the limits hold
  const lockProject = statement((p: OfProject) =>
    dialect.lock(
      query.select({ id: projects.id }).from(projects).where(eq(projects.id, p.projectId)),
      'for no key update',
    ),
  )
  const closeOverdue = statement((p: { openKey: string; now: EpochSeconds }) =>
    query
      .update(approvals)
      .set({ openKey: null })
      .where(and(eq(approvals.openKey, p.openKey), isOverdue(p)))
      .returning({ id: approvals.id }),
  )
  const byKey = statement((p: { openKey: string }) =>
    query.select(columns).from(approvals).where(eq(approvals.openKey, p.openKey)),
  )
  const deniedSince = statement((p: OfProject & { digest: string; after: EpochSeconds }) =>
    query
      .select(columns)
      .from(approvals)
      .where(and(isOfCall(p), eq(approvals.status, 'denied'), gt(approvals.endedAt, p.after)))
      .limit(1),
  )
  const lockOne = statement((p: InProject) =>
    dialect.lock(
      query.select({ id: approvals.id }).from(approvals).where(hasIdInProject(approvals, p)),
      'for no key update',
    ),
  )
  const interrupted = statement((p: OfProject & { digest: string; now: EpochSeconds }) =>
    query
      .select(columns)
      .from(approvals)
      .where(
        and(
          isOfCall(p),
          eq(approvals.status, 'used'),
          isNotNull(approvals.usedBy),
          sql`${approvals.useUntil} > (select ${dialect.sharedNow(p.now)})`,
        ),
      )
      .orderBy(desc(approvals.id))
      .limit(1),
  )
  const clock = statement((p: OfProject & { now: EpochSeconds }) =>
    query
      .select({ at: sql<number>`${dialect.sharedNow(p.now)}`.mapWith(Number) })
      .from(projects)
      .where(eq(projects.id, p.projectId)),
  )
  const exceeded = createAskLimits(database)
  const insert = statement((_: Row) =>
    query.insert(approvals).values(placeholdersOf(approvals)).returning(columns),
  )
  const one = statement((p: InProject) =>
    query.select(columns).from(approvals).where(hasIdInProject(approvals, p)),
  )
  const byId = statement((p: { id: string }) =>
    query.select(columns).from(approvals).where(eq(approvals.id, p.id)),
  )
  const setTo = (p: Row) => {
    const row = placeholdersOf(approvals)
    return query.update(approvals).set({
      status: row.status,
      decisions: row.decisions,
      useUntil: row.useUntil,
      executionId: row.executionId,
      usedBy: row.usedBy,
      endedAt: row.endedAt,
      openKey: row.openKey,
      mac: p.mac,
    })
  }
  /** The MAC covers what changes, so a row with the same MAC is the row that was read. */
  const isUnchanged = (p: Row & { before: string }) =>
    and(hasIdInProject(approvals, p as InProject), eq(sql`coalesce(${approvals.mac}, '')`, p.before))
  type Change = Row & { readonly before: string; readonly now: EpochSeconds }
  const end = statement((p: Change) => setTo(p).where(isUnchanged(p)).returning(columns))
  const decide = statement((p: Change) =>
    setTo(p)
      .where(and(isUnchanged(p), sql`${approvals.expiresAt} > (select ${dialect.sharedNow(p.now)})`))
      .returning(columns),
  )
  const spend = variantsOf((whose: Whose) =>
    statement((p: Change & { version: number }) =>
      setTo(p)
        .where(
          and(
            isUnchanged(p),
            sql`${approvals.useUntil} > (select ${dialect.sharedNow(p.now)})`,
            hasRulesVersion(projects, p),
            notExists(blockOf(database, whose, p)),
          ),
        )
        .returning({ id: approvals.id }),
    ),
  )
  const remember = statement((_: typeof standingApprovals.$inferInsert) =>
    query
      .insert(standingApprovals)
      .values(placeholdersOf(standingApprovals))
      .returning({ id: standingApprovals.id }),
  )
  const pages = variantsOf((shape: string) =>
    createPages<OfProject & ApprovalFilter, typeof approvals.$inferSelect>(database, {
      table: approvals,
      key: approvals.id,
      order: 'descending',
      keyOf: ({ id }) => id,
      matching: (p) =>
        and(
          eq(approvals.projectId, p.projectId),
          shape.includes('status') ? eq(approvals.status, p.status as ApprovalStatus) : undefined,
          shape.includes('user') ? eq(approvals.userId, p.userId as string) : undefined,
        ),
      select: (condition, order) => query.select().from(approvals).where(condition).orderBy(order),
    }),
  )
  const browsed = variantsOf((shape: string) =>
    createBrowse<OfProject & Pick<ApprovalFilter, 'status'>, typeof approvals.$inferSelect>(database, {
      key: approvals.id,
      keyOf: ({ id }) => id,
      matching: (p) =>
        and(
          eq(approvals.projectId, p.projectId),
          shape === 'status' ? eq(approvals.status, p.status as ApprovalStatus) : undefined,
        ),
      select: (condition, order) => query.select().from(approvals).where(condition).orderBy(order),
    }),
  )
  const overdue = variantsOf((status: OpenStatus) =>
    statement((p: { now: EpochSeconds; after: EpochSeconds; limit: number }) =>
      query
        .select(columns)
        .from(approvals)
        .where(and(eq(approvals.status, status), gt(approvals.expiresAt, p.after), isOverdue(p)))
        .orderBy(asc(approvals.expiresAt))
        .limit(p.limit),
    ),
  )
  const forgetCalls = statement((p: { before: EpochSeconds }) =>
    query
      .update(approvals)
      .set({ call: null })
      .where(and(lt(approvals.endedAt, p.before), sql`${approvals.call} is not null`))
      .returning({ id: approvals.id }),
  )
  const forget = statement((p: OfUser) =>
    query
      .delete(approvals)
      .where(and(eq(approvals.projectId, p.projectId), eq(approvals.userId, p.userId)))
      .returning({ id: approvals.id }),
  )
  const sweep = deleteInSlices(database, approvals, { id: approvals.id }, (p: { before: EpochSeconds }) =>
    lte(approvals.endedAt, p.before),
  )

  /** Why the question is not put: it is open already, or a limit refuses it. */
  function* withoutAsking(approval: Approval, openKey: string, limits: AskLimits): Steps<Begun | undefined> {
    const { projectId, digest } = approval
    const [open] = yield* byKey({ openKey })
    if (open !== undefined) return { outcome: 'open', approval: open }
    const [denied] = yield* deniedSince({ projectId, digest, after: limits.deniedAfter })
    return denied === undefined ? yield* exceeded(approval, limits) : { outcome: 'denied', approval: denied }
  }

  const rowOf = (approval: Approval): Row => ({ ...approval, openKey: openKeyOf(approval) })
  const announced = (to: Approval) => ({ noun: 'approval', id: to.id }) as const

  return {
    async begin(approval, limits, audit) {
      const { projectId, createdAt: now } = approval
      const openKey = openKeyOf({ ...approval, status: 'pending' }) ?? ''
      let instead: Begun | undefined
      const added = await write(audit, function* (announce) {
        yield* lockProject({ projectId })
        yield* closeOverdue({ openKey, now })
        instead = yield* withoutAsking(approval, openKey, limits)
        if (instead !== undefined) return undefined
        const [row] = yield* insert(rowOf(approval))
        if (row === undefined) throw new Error('an insert returns its row')
        announce(announced(row))
        yield* followUp(announce, { kind: 'approval changed', approval: row })
        return row
      })
      if (added !== undefined) return { outcome: 'open', approval: added }
      if (instead === undefined) throw new Error('a question that was not put has a reason')
      return instead
    },
    async find(projectId, id) {
      return (await read(one({ projectId, id })))[0]
    },
    async findById(id) {
      return (await read(byId({ id })))[0]
    },
    async change(from, to, now, audit, remembered) {
      const isDecision = to.decisions.length > from.decisions.length
      return write(audit, function* (announce) {
        const row = { ...rowOf(to), before: from.mac ?? '', now }
        const [changed] = yield* isDecision ? decide(row) : end(row)
        if (changed === undefined) return undefined
        if (remembered !== undefined) yield* remember(remembered)
        announce(announced(changed))
        yield* followUp(announce, { kind: 'approval changed', approval: changed })
        return changed
      })
    },
    async spend(from, to, versions, now, audit) {
      // several gates with versions of their own do not exist: the core's gate of policies has the only one
      const version = versions[0]?.version ?? 0
      return write(audit, function* (announce) {
        const row = { ...rowOf(to), before: from.mac ?? '', version, now }
        const [spent] = yield* spend(whoseOf(to))(row)
        if (spent === undefined) return false
        announce(announced(to))
        return true
      })
    },
    async page(projectId, filter, page) {
      const shape = [filter.status && 'status', filter.userId && 'user'].filter(Boolean).join(' ')
      return pages(shape)({ projectId, ...filter }, page)
    },
    browse: (projectId, status, place, limit) =>
      browsed(status === undefined ? 'all' : 'status')({ projectId, status }, place, limit),
    async overdue(status, now, after, limit) {
      const items = await read(overdue(status)({ now, after, limit }))
      return { items, last: items.length < limit ? undefined : items.at(-1)?.expiresAt }
    },
    async ended(from, to) {
      await write(undefined, () => end({ ...rowOf(to), before: from.mac ?? '', now: 0 }))
    },
    async interrupted(projectId, digest, now) {
      return (await read(interrupted({ projectId, digest, now })))[0]
    },
    async clock(projectId, now) {
      return (await read(clock({ projectId, now })))[0]?.at ?? now
    },
    async awaitWriters(projectId, id) {
      await write(undefined, () => lockOne({ projectId, id }))
    },
    async forgetCalls(before) {
      return (await write(undefined, () => forgetCalls({ before }))).length
    },
    sweep: (before) => sweep({ before }),
    forgetUser: (user) => write(undefined, () => forget(user)),
  }
}

function openKeyOf({ status, projectId, digest }: Pick<Approval, 'status' | 'projectId' | 'digest'>) {
  return (OPEN as readonly string[]).includes(status) ? `${projectId} ${digest}` : undefined
}
