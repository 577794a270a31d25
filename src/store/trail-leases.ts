import { and, eq, or } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Database } from './database.ts'
import { isUnleased, type Lease, leaseEnd, NO_LEASE } from './lease.ts'
import type { OfProject } from './statement.ts'

/** The leases on work that covers a project's whole audit trail, such as archiving it. */
export interface TrailLeases {
  /** Takes the lease of a project, which one process has at a time. Its owner prolongs it by another call. */
  claim(projectId: string, lease: Lease, now: EpochSeconds): Promise<boolean>
  /** Gives the lease back. */
  endClaim(projectId: string, owner: string): Promise<void>
}

export function createTrailLeases({ tables, query, statement, write, dialect }: Database): TrailLeases {
  const { auditProgress } = tables
  const trail = { projectId: auditProgress.projectId }
  const isTrail = (p: OfProject) => eq(auditProgress.projectId, p.projectId)

  const begin = statement((p: OfProject & { indexedFrom: number; indexedTo: number }) =>
    query
      .insert(auditProgress)
      .values({ projectId: p.projectId, indexedFrom: p.indexedFrom, indexedTo: p.indexedTo })
      .onConflictDoNothing()
      .returning(trail),
  )
  const claim = statement((p: OfProject & Lease & { now: EpochSeconds }) =>
    query
      .update(auditProgress)
      .set({ leaseOwner: p.owner, leaseUntil: leaseEnd(dialect, p) })
      .where(
        and(
          isTrail(p),
          or(eq(auditProgress.leaseOwner, p.owner), isUnleased(dialect, auditProgress.leaseUntil, p.now)),
        ),
      )
      .returning(trail),
  )
  const endClaim = statement((p: OfProject & { owner: string }) =>
    query
      .update(auditProgress)
      .set(NO_LEASE)
      .where(and(isTrail(p), eq(auditProgress.leaseOwner, p.owner)))
      .returning(trail),
  )

  return {
    async claim(projectId, lease, now) {
      return write(undefined, function* () {
        yield* begin({ projectId, indexedFrom: 0, indexedTo: 0 })
        const rows = yield* claim({ projectId, ...lease, now })
        return rows.length > 0
      })
    },
    async endClaim(projectId, owner) {
      await write(undefined, () => endClaim({ projectId, owner }))
    },
  }
}
