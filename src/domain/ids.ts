import { createHash, randomBytes } from 'node:crypto'
import { uuidv7 } from 'uuidv7'

export type IdPrefix =
  | 'proj'
  | 'key'
  | 'prov'
  | 'auth'
  | 'conn'
  | 'tool'
  | 'work'
  | 'sec'
  | 'exec'
  | 'chain'
  | 'susp'
  | 'mcpc'
  | 'mcpcl'

/** A new sortable id such as `auth_0193…`: the prefix and a UUIDv7 (RFC 9562 section 5.7) without dashes. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${uuidv7().replaceAll('-', '')}`
}

/**
 * A new id of what belongs to a user: sortable by time too, but a UUIDv8 (RFC 9562 section 5.8), whose last 16 bits are
 * `ownerBits`. So a database that is partitioned by owner can tell from the id alone where the row is.
 */
export function newOwnedId(prefix: 'auth' | 'conn', projectId: string, userId: string): string {
  const [, uuid = ''] = newId(prefix).split('_')
  return `${prefix}_${uuid.slice(0, VERSION_AT)}8${uuid.slice(VERSION_AT + 1, -OWNER_DIGITS)}${ownerBits(projectId, userId)}`
}

/** The `ownerBits` within an id; `undefined` in one of an older release, which has none. */
export function ownerBitsOf(id: string): string | undefined {
  const uuid = id.slice(id.indexOf('_') + 1)
  return uuid[VERSION_AT] === '8' ? uuid.slice(-OWNER_DIGITS) : undefined
}

/** 16 bits of a hash of project and user, as hexadecimal digits. They are stored for good: how they are made never changes. */
export function ownerBits(projectId: string, userId: string): string {
  return createHash('sha256')
    .update(JSON.stringify([projectId, userId]))
    .digest('hex')
    .slice(0, OWNER_DIGITS)
}

/** Where the version is within a UUID without dashes. */
const VERSION_AT = 12
const OWNER_DIGITS = 4

/** 256 random bits, base64url: `state`, flow ids, browser ids, API keys. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url')
}

/** SHA-256 in base64url: the stored form of high-entropy secrets that are only ever compared. */
export function sha256(value: string): string {
  return createHash('sha256').update(value).digest('base64url')
}
