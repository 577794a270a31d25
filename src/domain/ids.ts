import { createHash, randomBytes, randomFillSync, timingSafeEqual } from 'node:crypto'
import { V7Generator } from 'uuidv7'
import type { EpochSeconds } from './clock.ts'

export type IdPrefix =
  | 'proj'
  | 'key'
  | 'prov'
  | 'auth'
  | 'conn'
  | 'shared'
  | 'tool'
  | 'work'
  | 'sec'
  | 'exec'
  | 'chain'
  | 'susp'
  | 'mcpc'
  | 'mcpcl'
  | 'cs'
  | 'wh'
  | 'evt'
  | 'appr'
  | 'stap'
  | 'code'
  | 'file'

/** Random words for ids. Node takes 6 us to begin to fill a buffer of any size, and every run of a tool has an id. */
const words = new Uint32Array(1024)
let used = words.length

const generator = new V7Generator({
  nextUint32() {
    if (used === words.length) {
      randomFillSync(words)
      used = 0
    }
    return words[used++] ?? 0 // there are as many
  },
})

/** A new sortable id such as `auth_0193…`: the prefix and a UUIDv7 (RFC 9562 section 5.7) without dashes. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${generator.generate().toHex()}`
}

/** No id of this second or a later one comes before it in a list that is sorted by ids. */
export function firstIdAt(prefix: IdPrefix, at: EpochSeconds): string {
  return `${prefix}_${(at * 1000).toString(16).padStart(12, '0')}`
}

/**
 * A new id of a row that belongs to a user. It is sortable by time too, but a UUIDv8 (RFC 9562 section 5.8), whose last 16
 * bits are `ownerBits`: a database that is partitioned by owner finds the row's partition by the id alone.
 */
export function newOwnedId(prefix: 'auth' | 'conn', projectId: string, userId: string): string {
  const [, uuid = ''] = newId(prefix).split('_')
  return `${prefix}_${uuid.slice(0, VERSION_AT)}8${uuid.slice(VERSION_AT + 1, -OWNER_DIGITS)}${ownerBits(projectId, userId)}`
}

/** The `ownerBits` within an id; `undefined` for an id of an older release, which has none. */
export function ownerBitsOf(id: string): string | undefined {
  return OWNED_ID.exec(id)?.[1]
}

/** 16 bits of a hash of project and user, as hexadecimal digits. They are stored, so the hash must never change. */
export function ownerBits(projectId: string, userId: string): string {
  return createHash('sha256')
    .update(JSON.stringify([projectId, userId]))
    .digest('hex')
    .slice(0, OWNER_DIGITS)
}

/** A new `state` or flow id of one user: `randomToken` with the `ownerBits` after it. */
export function newOwnedToken(projectId: string, userId: string): string {
  return randomToken() + ownerBits(projectId, userId)
}

/**
 * The stored form of a token of `newOwnedToken`: its SHA-256, followed by its `ownerBits`, which tell the partition of the
 * row. A token without bits (of an older release, or forged) is stored as its SHA-256 alone.
 */
export function ownedTokenHash(token: string): string {
  return sha256(token) + (OWNED_TOKEN.exec(token)?.[1] ?? '')
}

/** The `ownerBits` in the stored form of a token; `undefined` if it has none. */
export function ownerBitsOfHash(hash: string): string | undefined {
  return OWNED_TOKEN.exec(hash)?.[1]
}

/** 256 bits in base64url, then the `ownerBits`. */
const OWNED_TOKEN = /^(?:flow_)?[\w-]{43}([0-9a-f]{4})$/
/** An id that `newOwnedId` has made. */
const OWNED_ID = /^[a-z]+_[0-9a-f]{12}8[0-9a-f]{15}([0-9a-f]{4})$/
/** The index of the version's digit in a UUID without dashes. */
const VERSION_AT = 12
const OWNER_DIGITS = 4

/** 256 random bits, base64url: browser ids, API keys, the random part of `state` and flow ids. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Compares two secrets or MACs in constant time. */
export function isSameSecret(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** SHA-256 in base64url: the stored form of high-entropy secrets that are only ever compared. */
export function sha256(value: string): string {
  return createHash('sha256').update(value).digest('base64url')
}
