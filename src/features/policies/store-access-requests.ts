import { and, asc, eq, getTableColumns, lte, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { Database } from '../../store/database.ts'
import { type OfUser, placeholdersOf } from '../../store/statement.ts'
import { deleteInSlices } from '../../store/sweep.ts'
import type { AccessRequest } from './domain-access-request.ts'

/** Access requests to policy decision points. Claims use the clock that nodes share. */
export interface AccessRequests {
  /** Adds it, unless the question has one for the policy. */
  add(request: AccessRequest): Promise<void>
  find(uid: string): Promise<AccessRequest | undefined>
  /** Claims up to `limit` that are due, for `seconds`: no other process gets them meanwhile. */
  claimDue(now: EpochSeconds, limit: number, seconds: number): Promise<readonly AccessRequest[]>
  /** Writes how the attempt ended; `nextIn` absent: there is nothing more to do. Nothing if the claim has lapsed. */
  settle(
    claimed: AccessRequest,
    to: Pick<AccessRequest, 'state' | 'task'> & { readonly nextIn?: number },
    now: EpochSeconds,
  ): Promise<void>
  forgetUser(user: OfUser): Promise<number>
  /** Deletes those whose question ended before this time. */
  sweep(before: EpochSeconds): Promise<number>
}

export function createAccessRequests(database: Database): AccessRequests {
  const { tables, query, statement, read, write, dialect } = database
  const { accessRequests: requests } = tables
  const columns = getTableColumns(requests)

  const insert = statement((_: typeof requests.$inferInsert) =>
    query
      .insert(requests)
      .values(placeholdersOf(requests))
      .onConflictDoNothing()
      .returning({ uid: requests.uid }),
  )
  const one = statement((p: { uid: string }) =>
    query.select(columns).from(requests).where(eq(requests.uid, p.uid)),
  )
  const due = statement((p: { now: EpochSeconds; limit: number }) =>
    dialect.lock(
      query
        .select({ uid: requests.uid })
        .from(requests)
        // a subquery, so that the time is read once and the index finds the rows
        .where(lte(requests.nextAt, sql`(select ${dialect.sharedNow(p.now)})`))
        .orderBy(asc(requests.nextAt))
        .limit(p.limit),
      'for update skip locked',
    ),
  )
  const claim = statement((p: { uid: string; now: EpochSeconds; seconds: number }) =>
    query
      .update(requests)
      .set({
        attempts: sql`${requests.attempts} + 1`,
        nextAt: sql`${dialect.sharedNow(p.now)} + cast(${p.seconds} as bigint)`,
      })
      .where(eq(requests.uid, p.uid))
      .returning(columns),
  )
  type Settled = Pick<AccessRequest, 'uid' | 'attempts' | 'state' | 'task'>
  const waits = statement((p: Settled & { now: EpochSeconds; nextIn: number }) =>
    query
      .update(requests)
      .set({
        state: p.state,
        task: p.task,
        nextAt: sql`${dialect.sharedNow(p.now)} + cast(${p.nextIn} as bigint)`,
      })
      .where(and(eq(requests.uid, p.uid), eq(requests.attempts, p.attempts)))
      .returning({ uid: requests.uid }),
  )
  const ends = statement((p: Settled) =>
    query
      .update(requests)
      .set({ state: p.state, task: p.task, nextAt: null })
      .where(and(eq(requests.uid, p.uid), eq(requests.attempts, p.attempts)))
      .returning({ uid: requests.uid }),
  )
  const forget = deleteInSlices(database, requests, { uid: requests.uid }, (p: OfUser) =>
    and(eq(requests.projectId, p.projectId), eq(requests.userId, p.userId)),
  )
  const sweep = deleteInSlices(database, requests, { uid: requests.uid }, (p: { before: EpochSeconds }) =>
    lte(requests.expiresAt, p.before),
  )

  return {
    async add(request) {
      await write(undefined, () => insert(request))
    },
    async find(uid) {
      return (await read(one({ uid })))[0]
    },
    claimDue: (now, limit, seconds) =>
      write(undefined, function* () {
        const claimed: AccessRequest[] = []
        // a statement of its own locks the rows, since an UPDATE has no limit
        for (const { uid } of yield* due({ now, limit }))
          claimed.push(...(yield* claim({ uid, now, seconds })))
        return claimed
      }),
    async settle({ uid, attempts }, { state, task, nextIn }, now) {
      const settled = { uid, attempts, state, task }
      await write(undefined, () =>
        nextIn === undefined ? ends(settled) : waits({ ...settled, now, nextIn }),
      )
    },
    forgetUser: (user) => forget(user),
    sweep: (before) => sweep({ before }),
  }
}
