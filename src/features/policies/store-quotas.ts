import { and, asc, eq, gt, inArray, lt, lte, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { Database } from '../../store/database.ts'
import { type OfProject, placeholdersOf, type Steps } from '../../store/statement.ts'
import { deleteInSlices } from '../../store/sweep.ts'
import type { PolicyQuota } from './domain.ts'
import { type QuotaWindow, windowAt } from './store-quota-window.ts'

/** A use that a quota counts. */
export interface QuotaUse extends OfProject {
  readonly policy: string
  readonly quota: PolicyQuota
  /** What the use is counted for (`domain-quota-subject.ts`). */
  readonly subject: string
}

/** `taken`: how many uses were counted for each, at `at` by the clock that all nodes share. */
export type QuotaOutcome = { readonly at: EpochSeconds } & (
  | { readonly outcome: 'taken'; readonly taken: readonly QuotaTaken[] }
  | { readonly outcome: 'used up'; readonly by: QuotaUse; readonly window: QuotaWindow }
)

export interface QuotaTaken {
  readonly count: number
  readonly window: QuotaWindow
}

export interface QuotaCount extends OfProject {
  readonly subject: string
  readonly policy: string
  readonly windowStart: EpochSeconds
  readonly windowEnd: EpochSeconds
  readonly count: number
}

/** Counts of uses by calendar windows, over all nodes. */
export interface QuotaCounts {
  /**
   * Counts one use for each, or none of them if one is used up: at most `limit` uses are ever counted in a window. Of a
   * large quota it counts a hundredth in advance, for the caller to use.
   */
  take(uses: readonly QuotaUse[], now: EpochSeconds): Promise<QuotaOutcome>
  /** The first that is used up, without counting. */
  findUsedUp(uses: readonly QuotaUse[], now: EpochSeconds): Promise<QuotaOutcome>
  /** Counts of windows that have not ended, by subject and policy. `subjects`: only those. */
  list(
    projectId: string,
    of: { readonly now: EpochSeconds; readonly subjects?: readonly string[]; readonly limit: number },
  ): Promise<readonly QuotaCount[]>
  forget(projectId: string, subjects: readonly string[]): Promise<number>
  /** Deletes windows that ended more than `keptSeconds` ago, by the clock that all nodes share. */
  sweep(now: EpochSeconds, keptSeconds: number): Promise<number>
}

/** A quota above this is taken by hundredths. */
const LARGE = 1_000

export function quotaBlock({ limit }: PolicyQuota): number {
  return limit > LARGE ? Math.floor(limit / 100) : 1
}

type Key = Pick<QuotaCount, 'projectId' | 'subject' | 'policy' | 'windowStart'>

export function createQuotaCounts(database: Database): QuotaCounts {
  const { tables, query, statement, read, write, dialect } = database
  const { quotaCounts, projects } = tables
  const { projectId, subject, policy, windowStart, windowEnd, count } = quotaCounts
  const isRow = (p: Key) =>
    and(
      eq(projectId, p.projectId),
      eq(subject, p.subject),
      eq(policy, p.policy),
      eq(windowStart, p.windowStart),
    )

  const clock = statement((p: OfProject & { now: EpochSeconds }) =>
    query
      .select({ at: dialect.sharedNow(p.now) })
      .from(projects)
      .where(eq(projects.id, p.projectId)),
  )
  /** One statement decides, so that no two nodes take the last use: none is counted beyond `most` before it. */
  const add = statement((p: QuotaCount & { most: number }) =>
    query
      .insert(quotaCounts)
      .values(placeholdersOf(quotaCounts))
      .onConflictDoUpdate({
        target: [projectId, subject, policy, windowStart],
        set: { count: sql`${count} + excluded.count` },
        setWhere: lte(count, p.most),
      })
      .returning({ count }),
  )
  const giveBack = statement((p: Key & { taken: number }) =>
    query
      .update(quotaCounts)
      .set({ count: sql`${count} - ${p.taken}` })
      .where(isRow(p))
      .returning({ count }),
  )
  const counted = statement((p: Key) => query.select({ count }).from(quotaCounts).where(isRow(p)))
  const columns = { projectId, subject, policy, windowStart, windowEnd, count }
  const current = statement((p: OfProject & { now: EpochSeconds; rows: number }) =>
    query
      .select(columns)
      .from(quotaCounts)
      .where(and(eq(projectId, p.projectId), gt(windowEnd, dialect.sharedNow(p.now))))
      .orderBy(asc(subject), asc(policy), asc(windowStart))
      .limit(p.rows),
  )
  const ofSubjects = (p: OfProject & { subjects: readonly string[] }) =>
    and(
      eq(projectId, p.projectId),
      inArray(subject, sql`(select one.value from ${dialect.elementsOf(p.subjects)} as one)`),
    )
  const currentOf = statement(
    (p: OfProject & { now: EpochSeconds; rows: number; subjects: readonly string[] }) =>
      query
        .select(columns)
        .from(quotaCounts)
        .where(and(ofSubjects(p), gt(windowEnd, dialect.sharedNow(p.now))))
        .orderBy(asc(subject), asc(policy), asc(windowStart))
        .limit(p.rows),
  )
  const remove = deleteInSlices(
    database,
    quotaCounts,
    { projectId, subject, policy, windowStart },
    (p: OfProject & { subjects: readonly string[] }) => ofSubjects(p),
  )
  const sweep = deleteInSlices(
    database,
    quotaCounts,
    { projectId, subject, policy, windowStart },
    (p: { now: EpochSeconds; kept: number }) =>
      // a subquery, so that the time is read once and the index finds the rows
      lt(windowEnd, sql`(select ${dialect.sharedNow(p.now)} - cast(${p.kept} as bigint))`),
  )

  function* atOf(uses: readonly QuotaUse[], now: EpochSeconds): Steps<EpochSeconds> {
    const [row] = yield* clock({ projectId: uses[0]?.projectId ?? '', now })
    return Math.floor(Number(row?.at ?? now))
  }

  function keyOf(use: QuotaUse, { start }: QuotaWindow): Key {
    return { projectId: use.projectId, subject: use.subject, policy: use.policy, windowStart: start }
  }

  return {
    async take(uses, now) {
      return write(undefined, function* (): Steps<QuotaOutcome> {
        const at = yield* atOf(uses, now)
        const taken: QuotaTaken[] = []
        for (const use of uses) {
          const window = windowAt(use.quota, at)
          const key = keyOf(use, window)
          const { limit } = use.quota
          let wanted = quotaBlock(use.quota)
          const row = { ...key, windowEnd: window.end }
          let added = yield* add({ ...row, count: wanted, most: limit - wanted })
          if (added.length === 0 && wanted > 1) {
            wanted = 1
            added = yield* add({ ...row, count: 1, most: limit - 1 })
          }
          if (added.length === 0) {
            for (const [i, before] of taken.entries()) {
              const given = uses[i]
              if (given !== undefined)
                yield* giveBack({ ...keyOf(given, before.window), taken: before.count })
            }
            return { outcome: 'used up', by: use, window, at }
          }
          taken.push({ count: wanted, window })
        }
        return { outcome: 'taken', taken, at }
      })
    },

    async findUsedUp(uses, now) {
      const [first] = uses
      const [row] = first === undefined ? [] : await read(clock({ projectId: first.projectId, now }))
      const at = Math.floor(Number(row?.at ?? now))
      for (const use of uses) {
        const window = windowAt(use.quota, at)
        const [found] = await read(counted(keyOf(use, window)))
        if ((found?.count ?? 0) >= use.quota.limit) return { outcome: 'used up', by: use, window, at }
      }
      return { outcome: 'taken', taken: [], at }
    },

    async list(projectId, { now, subjects, limit }) {
      return subjects === undefined
        ? read(current({ projectId, now, rows: limit }))
        : read(currentOf({ projectId, now, rows: limit, subjects }))
    },
    forget: (projectId, subjects) => remove({ projectId, subjects }),
    sweep: (now, kept) => sweep({ now, kept }),
  }
}
