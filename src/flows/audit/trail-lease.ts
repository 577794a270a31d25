import { randomUUID } from 'node:crypto'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'

/** Longer than indexing one segment takes, and than the time between two prolongations. A lapsed lease is free. */
const LEASE_SECONDS = 60
const PROLONG_MS = 10_000

/** The lease on indexing and archiving a project's trail. One process at a time holds it. */
export interface TrailLease extends AsyncDisposable {
  /** Prolongs the lease. `false`: another process has taken it over. */
  prolong(): Promise<boolean>
  /** Prolongs the lease if that was not done recently. Throws `store_unavailable` when another process has taken it over. */
  keep(): Promise<void>
}

/** Takes the lease; `undefined` while another process holds it. */
export async function leaseTrail(
  broker: Pick<Broker, 'store' | 'now'>,
  projectId: string,
): Promise<TrailLease | undefined> {
  const { trailLeases } = broker.store
  const lease = { owner: randomUUID(), seconds: LEASE_SECONDS }
  const prolong = () => trailLeases.claim(projectId, lease, broker.now())
  if (!(await prolong())) return undefined
  let claimedAt = performance.now()
  return {
    prolong,
    async keep() {
      if (performance.now() - claimedAt < PROLONG_MS) return
      if (!(await prolong()))
        throw new BrokerError(
          'store_unavailable',
          'Another process has begun to index or archive the audit trail.',
        )
      claimedAt = performance.now()
    },
    [Symbol.asyncDispose]: () => trailLeases.endClaim(projectId, lease.owner),
  }
}
