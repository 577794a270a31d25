import { and, eq, gt, lte } from 'drizzle-orm'
import type { Pending } from '../domain/authorization.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Sealed } from '../domain/sealed.ts'
import { overAllOwners } from './all-owners.ts'
import { transitionOf } from './authorization-attempts.ts'
import { authorizationConditions } from './authorization-conditions.ts'
import { NO_ATTEMPT, NO_POLL } from './authorization-row.ts'
import type { Database } from './database.ts'
import { createLeaseClock, isUnleased, type Lease, leaseEnd, NO_LEASE } from './lease.ts'
import type { ById } from './statement.ts'
import { withLines } from './trail-column.ts'

/** The part of `Authorizations` for device codes (RFC 8628), whose tokens any process asks for, one request at a time. */
export interface DevicePolls {
  /** When the next request is due, by the rows of all processes; `undefined`: none is until `until`. */
  nextPollAt(until: EpochSeconds): Promise<EpochSeconds | undefined>
  /** The ids of authorizations whose provider is to be asked now, the longest overdue first. */
  duePolls(now: EpochSeconds, limit: number): Promise<readonly string[]>
  /**
   * Takes the right to send the next request, if it is due and no other process has that right. Two processes never have
   * it at a time; another one may take it once the lease has expired. Uses the clock of leases (`Dialect.leaseNow`).
   */
  claimPoll(id: string, lease: Lease, now: EpochSeconds): Promise<Pending | undefined>
  /** Whether `owner` still holds the lease of this attempt. */
  holdsPoll(id: string, stateHash: string, owner: string, now: EpochSeconds): Promise<boolean>
  /** Gives the lease back after an answer that says nothing yet: the next request is due at `at`, with this interval. */
  postponePoll(
    id: string,
    owner: string,
    next: { readonly at: EpochSeconds; readonly seconds: number },
  ): Promise<void>
  /**
   * Keeps the grant until the user confirms the account, at most until the authorization expires. `undefined`: the
   * authorization was cancelled or has expired, or another process holds the lease.
   */
  holdGrant(
    id: string,
    owner: string,
    granted: Sealed,
    now: EpochSeconds,
    lines?: string,
  ): Promise<Pending | undefined>
  /** Ends the polling of an authorization that has expired, and forgets its secrets. */
  endPoll(id: string, now: EpochSeconds): Promise<void>
}

type OfOwner = ById & { readonly owner: string }

export function createDevicePolls(database: Database): DevicePolls {
  const { tables, query, statement, read, write, dialect, isDistributed } = database
  const { authorizations } = tables
  const { hasId, unexpired } = authorizationConditions(database)
  const transition = transitionOf(database)
  const isDue = (now: EpochSeconds) => lte(authorizations.pollAt, now)
  const isPending = eq(authorizations.status, 'pending')
  const isOwn = (p: OfOwner) => and(hasId(p), isPending, eq(authorizations.leaseOwner, p.owner))

  const due = overAllOwners(database, authorizations, (p: { now: EpochSeconds; limit: number }, part) =>
    query
      .select({ id: authorizations.id })
      .from(authorizations)
      .where(and(isDue(p.now), isUnleased(dialect, authorizations.leaseUntil, p.now), part))
      .orderBy(authorizations.pollAt)
      .limit(p.limit),
  )
  const next = overAllOwners(database, authorizations, (p: { until: EpochSeconds }, part) =>
    query
      .select({ at: authorizations.pollAt })
      .from(authorizations)
      .where(and(isDue(p.until), part))
      .orderBy(authorizations.pollAt)
      .limit(1),
  )
  const claim = statement((p: Lease & ById & { now: EpochSeconds }) =>
    query
      .update(authorizations)
      .set({ leaseOwner: p.owner, leaseUntil: leaseEnd(dialect, p) })
      .where(and(hasId(p), isPending, isDue(p.now), isUnleased(dialect, authorizations.leaseUntil, p.now)))
      .returning(),
  )
  const held = statement((p: OfOwner & { stateHash: string; now: EpochSeconds }) =>
    query
      .select({ until: authorizations.leaseUntil })
      .from(authorizations)
      .where(
        and(
          isOwn(p),
          eq(authorizations.stateHash, p.stateHash),
          isDistributed ? undefined : gt(authorizations.leaseUntil, dialect.leaseNow(p.now)),
          unexpired(p.now),
        ),
      ),
  )
  const clock = isDistributed ? createLeaseClock(database) : undefined
  const postpone = statement((p: OfOwner & { at: EpochSeconds; seconds: number }) =>
    query
      .update(authorizations)
      .set({ ...NO_LEASE, pollAt: p.at, pollSeconds: p.seconds })
      .where(isOwn(p))
      .returning({ id: authorizations.id }),
  )
  const hold = statement((p: OfOwner & { granted: Sealed; now: EpochSeconds; lines: string }) =>
    query
      .update(authorizations)
      .set({
        ...NO_POLL,
        response: p.granted,
        deadline: authorizations.expiresAt,
        trail: withLines(authorizations.trail, p.lines),
      })
      .where(and(isOwn(p), unexpired(p.now)))
      .returning(),
  )
  const end = statement((p: ById & { now: EpochSeconds }) =>
    query
      .update(authorizations)
      .set(NO_ATTEMPT)
      .where(and(hasId(p), isPending, lte(authorizations.expiresAt, p.now)))
      .returning({ id: authorizations.id }),
  )

  return {
    async nextPollAt(until) {
      const [first] = (await next({ until }, read)).map(({ at }) => at ?? until).sort((a, b) => a - b)
      return first
    },
    async duePolls(now, limit) {
      return (await due({ now, limit }, read)).map(({ id }) => id)
    },
    claimPoll: (id, lease, now) => transition(undefined, () => claim({ ...lease, id, now })),
    async holdsPoll(id, stateHash, owner, now) {
      const [row] = await read(held({ id, stateHash, owner, now }))
      return row !== undefined && (clock === undefined || (row.until ?? 0) > (await clock(now)))
    },
    async postponePoll(id, owner, { at, seconds }) {
      await write(undefined, () => postpone({ id, owner, at, seconds }))
    },
    holdGrant: (id, owner, granted, now, lines = '') =>
      transition(undefined, () => hold({ id, owner, granted, now, lines })),
    async endPoll(id, now) {
      await write(undefined, () => end({ id, now }))
    },
  }
}
