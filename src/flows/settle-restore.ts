import type { Broker } from '../broker.ts'
import { toTimestamp } from '../domain/clock.ts'

const INTERRUPTED = 'This installation was restored from a backup meanwhile. Ask for a new link.'

/**
 * Runs at the first start on a restored backup, which lacks everything that happened after it was taken. Its refresh
 * tokens may have been rotated, so a refusal does not mean that the user revoked the grant (`refresh_outcome_lost`); codes
 * of pending authorizations may have been redeemed; due runs may have run. docs/operate/backup.md tells operators what
 * follows.
 */
export async function settleRestore(
  { store, log, now, audit }: Pick<Broker, 'store' | 'log' | 'now' | 'audit'>,
  operatorsProjectId: string,
): Promise<void> {
  const settled = await store.settleRestore(INTERRUPTED, now(), (takenAt) =>
    audit.of(operatorsProjectId, {
      action: 'installation.restored',
      subject: `backup of ${toTimestamp(takenAt)}`,
    }),
  )
  if (settled === undefined) return
  const { takenAt, connections, authorizations, runs, mcpConsents } = settled
  log.warn(
    { takenAt: toTimestamp(takenAt), connections, authorizations, runs, mcpConsents },
    'this is a restored backup: refresh tokens that were rotated since it was taken are dead, and what was revoked since is back (docs/operate/backup.md)',
  )
}
