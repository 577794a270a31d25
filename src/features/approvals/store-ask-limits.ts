import { and, count, eq, gt, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { Database } from '../../store/database.ts'
import { type OfProject, type Steps, variantsOf } from '../../store/statement.ts'
import { type Approval, groupsOf } from './domain.ts'
import { isOfWhom, type Whose, whoseOf } from './store-conditions.ts'

/** How many questions people are asked, and when a denial is remembered. */
export interface AskLimits {
  /** Open questions of one agent for one user. */
  readonly pending: number
  /** Open questions of all agents for one user, so that another key or client asks no more than the first. */
  readonly pendingOfUser: number
  /** The same call is refused unasked when it was denied after this time. */
  readonly deniedAfter: EpochSeconds
  /** A tool is refused unasked when it was denied so often to the agent after `deniedOftenAfter`. */
  readonly denials: number
  /** The same for all agents of one user. */
  readonly denialsOfUser: number
  /** The same two of one agent and one tool for all users, where a group is asked: it is the same people for every user. */
  readonly pendingOfGroup: number
  readonly denialsOfGroup: number
  readonly deniedOftenAfter: EpochSeconds
}

export interface Exceeded {
  readonly outcome: 'denied often' | 'too many pending'
}

interface Counts {
  readonly ofAgent: number
  readonly ofUser: number
}

/** Returns the steps that find out which limit a further question would exceed, in the transaction that would put it. */
export function createAskLimits({
  tables: { approvals },
  query,
  statement,
  dialect,
}: Database): (approval: Approval, limits: AskLimits) => Steps<Exceeded | undefined> {
  type OfAgent = OfProject & { readonly userId?: string; readonly agent: string }
  const counts = (p: { agent: string }) => ({
    ofUser: count(),
    ofAgent: sql<number>`count(case when ${approvals.agent} = ${p.agent} then 1 end)`.mapWith(Number),
  })
  const isCounted = (whose: Whose | 'of all users', p: OfAgent & { subject: string }) =>
    whose === 'of all users'
      ? and(
          eq(approvals.projectId, p.projectId),
          eq(approvals.agent, p.agent),
          eq(approvals.subject, p.subject),
        )
      : isOfWhom(approvals, whose, p)
  const denials = variantsOf((whose: Whose | 'of all users') =>
    statement((p: OfAgent & { subject: string; after: EpochSeconds }) =>
      query
        .select(counts(p))
        .from(approvals)
        .where(
          and(
            isCounted(whose, p),
            eq(approvals.status, 'denied'),
            eq(approvals.subject, p.subject),
            gt(approvals.endedAt, p.after),
          ),
        ),
    ),
  )
  const pending = variantsOf((whose: Whose | 'of all users') =>
    statement((p: OfAgent & { subject: string; now: EpochSeconds }) =>
      query
        .select(counts(p))
        .from(approvals)
        .where(
          and(
            isCounted(whose, p),
            eq(approvals.status, 'pending'),
            sql`${approvals.expiresAt} > (select ${dialect.sharedNow(p.now)})`,
          ),
        ),
    ),
  )

  return function* (approval, limits) {
    const { projectId, userId, agent, subject, createdAt: now } = approval
    const whose = whoseOf(approval)
    const ofAgent = { projectId, agent, ...(userId !== undefined && { userId }) }
    const isOver = ([counts]: readonly Counts[], most: number, mostOfUser: number) =>
      counts !== undefined &&
      (counts.ofAgent >= most || (userId !== undefined && counts.ofUser >= mostOfUser))
    const since = { ...ofAgent, subject, after: limits.deniedOftenAfter }
    const denied = yield* denials(whose)(since)
    if (isOver(denied, limits.denials, limits.denialsOfUser)) return { outcome: 'denied often' }
    const waiting = yield* pending(whose)({ ...ofAgent, subject, now })
    if (isOver(waiting, limits.pending, limits.pendingOfUser)) return { outcome: 'too many pending' }
    if (groupsOf(approval).length === 0) return undefined
    const [deniedToAll] = yield* denials('of all users')(since)
    if ((deniedToAll?.ofAgent ?? 0) >= limits.denialsOfGroup) return { outcome: 'denied often' }
    const [waitingOfAll] = yield* pending('of all users')({ ...ofAgent, subject, now })
    return (waitingOfAll?.ofAgent ?? 0) >= limits.pendingOfGroup ? { outcome: 'too many pending' } : undefined
  }
}
