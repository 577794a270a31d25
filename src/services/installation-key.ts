import { hkdfSync, randomBytes } from 'node:crypto'
import type { Log } from '../domain/log.ts'
import type { Sealed } from '../domain/sealed.ts'
import { sealingContext } from '../store/protected-tables.ts'
import type { Sealer } from '../store/seal.ts'
import type { Signing } from '../store/signed-rows.ts'
import type { Store } from '../store/store.ts'
import type { AuditLog } from './audit-log.ts'
import { signOlderRows } from './sign-older-rows.ts'

const INSTALLATION_KEY = 'installation_key'
/** The fact's name in releases before rows had MACs. */
const OLDER_KEY = 'audit_key'

/**
 * Returns the installation's key, which authenticates the audit trail and the rows that grant permissions. The key is
 * made at the first start and survives rotations of the master key. `isSigned`: whether all rows have their MACs. The
 * key gets its current name only after all rows were signed. The name is part of the envelope's associated data, so an
 * attacker who can write to the database cannot rename the key to its older name to have altered rows signed. With a
 * copy of the older envelope that is possible, until the master key that sealed the copy is removed.
 */
export async function ensureInstallationKey(
  { facts }: Store,
  sealer: Sealer,
): Promise<{ readonly key: Buffer; readonly isSigned: boolean }> {
  const older = await facts.find(OLDER_KEY)
  const open = (fact: string, name: string) =>
    Buffer.from(sealer.open(fact as Sealed, sealingContext('facts', 'value', { name })), 'base64') // only this file writes these facts
  if (older !== undefined) return { key: open(older, OLDER_KEY), isSigned: false }
  const fresh = sealer.seal(
    randomBytes(32).toString('base64'),
    sealingContext('facts', 'value', { name: INSTALLATION_KEY }),
  )
  return { key: open(await facts.settle(INSTALLATION_KEY, fresh), INSTALLATION_KEY), isSigned: true }
}

/** Signs the rows of a database from a release without MACs, once, and records that in the audit trail. */
export async function signRowsOnce(
  {
    raw,
    store,
    signing,
    sealer,
    key,
    audit,
    log,
  }: {
    readonly raw: Store
    readonly store: Store
    readonly signing: Signing
    readonly sealer: Sealer
    readonly key: Buffer
    readonly audit: AuditLog
    readonly log: Log
  },
  projectId: string,
): Promise<void> {
  const rows = await signOlderRows(raw, store, signing)
  await raw.facts.settle(
    INSTALLATION_KEY,
    sealer.seal(key.toString('base64'), sealingContext('facts', 'value', { name: INSTALLATION_KEY })),
  )
  await audit.record(projectId, { action: 'installation.rows_signed', reason: `rows ${rows}` })
  await raw.facts.delete(OLDER_KEY)
  log.info({ rows }, 'rows that grant access were given a MAC')
}

/** Derives the installation's key for one purpose (RFC 5869): 32 bytes, the same on all nodes and under every master key. */
export type DeriveKey = (purpose: KeyPurpose) => Buffer

export type KeyPurpose = 'mcp session' | 'mcp request state'

export function createDeriveKey(installationKey: Buffer): DeriveKey {
  return (purpose) => Buffer.from(hkdfSync('sha256', installationKey, '', `gatepass/${purpose}`, 32))
}
