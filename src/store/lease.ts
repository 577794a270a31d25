import { gt, isNull, lte, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Database, Dialect } from './database.ts'

/** An exclusive right that ends after `seconds`, unless its owner prolongs it. */
export interface Lease {
  readonly owner: string
  readonly seconds: number
}

/** The lease columns of a row without a lease. */
export const NO_LEASE = { leaseOwner: null, leaseUntil: null } as const

/** Whether no process holds the lease that ends at `until`. */
export function isUnleased(dialect: Dialect, until: SQLWrapper, now: EpochSeconds): SQL | undefined {
  const { longestLeaseSeconds: longest } = dialect
  const leaseNow = dialect.leaseNow(now)
  return or(
    isNull(until),
    lte(until, leaseNow),
    longest === undefined ? undefined : gt(until, sql`${leaseNow} + ${sql.raw(String(longest))}`),
  )
}

/** The end of a lease that is taken or prolonged now, by the clock of leases. */
export function leaseEnd(dialect: Dialect, p: { seconds: number; now: EpochSeconds }): SQL<number> {
  return sql`${dialect.leaseNow(p.now)} + ${p.seconds}`
}

/**
 * Returns a function that reads the clock of leases. A SELECT of a distributed table takes the time of the worker, so such a
 * statement reads only the end of a lease, and the time is read afterwards.
 */
export function createLeaseClock({ query, statement, read, dialect }: Database) {
  const clock = statement((p: { now: EpochSeconds }) =>
    query.select({ at: dialect.leaseNow(p.now).mapWith(Number) }).from(sql`(select 1) as one`),
  )
  return async (now: EpochSeconds): Promise<EpochSeconds> => (await read(clock({ now })))[0]?.at ?? now
}
