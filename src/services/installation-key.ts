import { randomBytes } from 'node:crypto'
import type { Log } from '../domain/log.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { Sealer } from '../store/seal.ts'
import { factPlace } from '../store/sealed-columns.ts'
import { type RowSigner, signOlderRows } from '../store/signed-rows.ts'
import type { Store } from '../store/store.ts'
import type { AuditLog } from './audit-log.ts'

const INSTALLATION_KEY = 'installation_key'
/** Its name in releases whose rows had no MACs. */
const OLDER_KEY = 'audit_key'

/**
 * The installation's own key, of the audit trail and of rows that give power: made at the first start, and the same under
 * every master key. `isSigned`: under its name of today, which it gets once all rows have their MACs. The name is
 * part of the envelope's place, so nobody without the master key can make one of the older name; an envelope that was kept
 * from before the upgrade still opens, until the master key of that time is given up.
 */
export async function ensureInstallationKey(
  { facts }: Store,
  sealer: Sealer,
): Promise<{ readonly key: Buffer; readonly isSigned: boolean }> {
  const older = await facts.get(OLDER_KEY)
  const open = (fact: string, name: string) =>
    Buffer.from(sealer.open(fact as Sealed, factPlace(name)), 'base64') // facts that only this writes
  if (older !== undefined) return { key: open(older, OLDER_KEY), isSigned: false }
  const fresh = sealer.seal(randomBytes(32).toString('base64'), factPlace(INSTALLATION_KEY))
  return { key: open(await facts.settle(INSTALLATION_KEY, fresh), INSTALLATION_KEY), isSigned: true }
}

/** Of a database from a release whose rows had no MACs: signs them as they stand, once and on record. */
export async function signRowsOnce(
  {
    raw,
    signer,
    sealer,
    key,
    audit,
    log,
  }: {
    readonly raw: Store
    readonly signer: RowSigner
    readonly sealer: Sealer
    readonly key: Buffer
    readonly audit: AuditLog
    readonly log: Log
  },
  projectId: string,
): Promise<void> {
  const rows = await signOlderRows(raw, signer)
  await raw.facts.settle(INSTALLATION_KEY, sealer.seal(key.toString('base64'), factPlace(INSTALLATION_KEY)))
  await audit.record(projectId, { action: 'installation.rows_signed', reason: `rows ${rows}` })
  await raw.facts.delete(OLDER_KEY)
  log.info({ rows }, 'rows that give power have a MAC from now on')
}
