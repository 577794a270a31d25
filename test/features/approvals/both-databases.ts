import type { Gatepass, GatepassOptions } from '../../gatepass.ts'
import { freshDatabase } from '../../postgres.ts'

/**
 * What `startGatepass` is given for each database. Approvals end by the clock of PostgreSQL, so a clock that a test moves must
 * begin with the real time. The database is dropped with the server of all tests.
 */
export const onBothDatabases: readonly [string, () => Promise<GatepassOptions>][] = [
  ['SQLite', async () => ({})],
  ['PostgreSQL', async () => ({ environment: { GATEPASS_DATABASE_URL: (await freshDatabase()).url } })],
]

/** Approves what still waits, so that the next test may ask as many questions. */
export async function settleAll({ call }: Pick<Gatepass, 'call'>, key: string): Promise<void> {
  const { body } = await call('GET', '/v1/approvals?status=pending', undefined, { key })
  for (const { id, digest, user_id: approver } of body.items)
    await call('POST', `/v1/approvals/${id}/decision`, { decision: 'approve', digest, approver }, { key })
}
