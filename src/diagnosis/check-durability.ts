import type { Broker } from '../broker.ts'
import type { Check } from './check.ts'

/** Warns when a failover to a synchronous standby may lose commits that were answered. */
export async function checkDurability({ store }: Broker): Promise<Check[]> {
  const setting = await store.findWeakCommit?.()
  if (setting === undefined) return []
  return [
    {
      name: 'database',
      status: 'warning',
      message: `PostgreSQL has a synchronous standby, but with synchronous_commit ${setting} a commit is answered before the standby has it on its disk: a failover may lose deletions, revocations and refresh tokens that were just rotated.`,
      fix: 'Set synchronous_commit to on for the database or user of Gatepass.',
    },
  ]
}
