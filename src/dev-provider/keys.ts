import { hkdfSync } from 'node:crypto'

const KEY_BYTES = 32

/** A key of its own for each purpose (RFC 5869), so that what was made for one is worth nothing for another. */
export function deriveKey(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `gatepass sandbox: ${purpose}`, KEY_BYTES))
}
