import { hkdfSync } from 'node:crypto'

const KEY_BYTES = 32

/** Derives a separate key for each purpose (RFC 5869), so that a token made for one is invalid for another. */
export function deriveKey(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `gatepass sandbox: ${purpose}`, KEY_BYTES))
}
