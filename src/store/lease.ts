import { type SQL, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Dialect } from './database.ts'

/** An exclusive right that ends after `seconds`, unless its owner prolongs it. */
export interface Lease {
  readonly owner: string
  readonly seconds: number
}

/** What a row without a lease has in its columns. */
export const NO_LEASE = { leaseOwner: null, leaseUntil: null } as const

/** When a lease ends that is taken or prolonged now, by the clock of leases. */
export function leaseEnd(dialect: Dialect, p: { seconds: number; now: EpochSeconds }): SQL<number> {
  return sql`${dialect.leaseNow(p.now)} + ${p.seconds}`
}
