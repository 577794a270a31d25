import { and, eq, gt, lte } from 'drizzle-orm'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { AuditEntries } from '../../store/audit-entries.ts'
import type { Database } from '../../store/database.ts'
import { placeholdersOf } from '../../store/statement.ts'
import { deleteInSlices } from '../../store/sweep.ts'
import type { PortalTicket } from './domain.ts'

/** One-time links to users' own page (`/me`). A row is found by the hash of the link's ticket. */
export interface PortalTickets {
  add(ticket: PortalTicket, audit?: AuditEntries): Promise<void>
  /** The ticket, unless it was used or has expired. */
  find(hash: string, now: EpochSeconds): Promise<PortalTicket | undefined>
  /** Deletes the ticket and returns it, unless it has expired: of two racing requests one gets it. */
  spend(hash: string, now: EpochSeconds, audit?: AuditEntries): Promise<PortalTicket | undefined>
  /** Deletes those that have expired; returns how many. */
  sweep(now: EpochSeconds): Promise<number>
}

export function createPortalTickets(database: Database): PortalTickets {
  const { tables, query, statement, read, write } = database
  const { portalTickets } = tables
  const isLive = (p: { hash: string; now: EpochSeconds }) =>
    and(eq(portalTickets.hash, p.hash), gt(portalTickets.expiresAt, p.now))

  const insert = statement((_: PortalTicket) =>
    query.insert(portalTickets).values(placeholdersOf(portalTickets)).returning({ hash: portalTickets.hash }),
  )
  const live = statement((p: { hash: string; now: EpochSeconds }) =>
    query.select().from(portalTickets).where(isLive(p)),
  )
  const take = statement((p: { hash: string; now: EpochSeconds }) =>
    query.delete(portalTickets).where(isLive(p)).returning(),
  )
  const sweep = deleteInSlices(
    database,
    portalTickets,
    { hash: portalTickets.hash },
    (p: { now: EpochSeconds }) => lte(portalTickets.expiresAt, p.now),
  )

  return {
    async add(ticket, audit) {
      await write(audit, () => insert(ticket))
    },
    async find(hash, now) {
      return (await read(live({ hash, now })))[0]
    },
    async spend(hash, now, audit) {
      return write(audit, function* () {
        return (yield* take({ hash, now }))[0]
      })
    },
    async sweep(now) {
      return sweep({ now })
    },
  }
}
