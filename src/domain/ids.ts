import { createHash, randomBytes } from 'node:crypto'
import { uuidv7 } from 'uuidv7'

export type IdPrefix = 'proj' | 'key' | 'prov' | 'auth' | 'conn' | 'tool' | 'work' | 'sec' | 'exec' | 'chain'

/** A new sortable id such as `auth_0193…`: the prefix and a UUIDv7 (RFC 9562 section 5.7) without dashes. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${uuidv7().replaceAll('-', '')}`
}

/** 256 random bits, base64url: `state`, flow ids, browser ids, API keys. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url')
}

/** SHA-256 in base64url: the stored form of high-entropy secrets that are only ever compared. */
export function sha256(value: string): string {
  return createHash('sha256').update(value).digest('base64url')
}
