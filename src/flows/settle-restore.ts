import type { Broker } from '../broker.ts'
import { toTimestamp } from '../domain/clock.ts'

const INTERRUPTED = 'This installation was restored from a backup meanwhile. Ask for a new link.'

/**
 * The first start on a restored backup. What has happened since it was taken is not in it: its refresh tokens may have
 * been rotated, so that a refusal of one says nothing of the user's will (`refresh_outcome_lost`), and a code of an
 * authorization that was under way may have been redeemed, and a run that was due carried out. docs/backup.md tells operators what follows.
 */
export async function settleRestore(
  { store, log, now, audit }: Pick<Broker, 'store' | 'log' | 'now' | 'audit'>,
  operatorsProjectId: string,
): Promise<void> {
  const settled = await store.settleRestore(INTERRUPTED, now())
  if (settled === undefined) return
  const { takenAt, connections, authorizations, runs } = settled
  await audit.record(operatorsProjectId, {
    action: 'installation.restored',
    subject: `backup of ${toTimestamp(takenAt)}`,
  })
  log.warn(
    { takenAt: toTimestamp(takenAt), connections, authorizations, runs },
    'this is a restored backup: refresh tokens that were rotated since it was taken are dead, and what was revoked since is back (docs/backup.md)',
  )
}
