import type { EpochSeconds } from './clock.ts'
import { BrokerError } from './errors.ts'
import { newId, randomToken, sha256 } from './ids.ts'

/**
 * What a key may do: `admin` everything except deciding about calls, `caller` use tools and tokens, `readonly` read and
 * never get a token. `approver` lists calls that wait for an approval and decides about them, and does nothing else.
 */
export const ROLES = ['admin', 'caller', 'readonly', 'approver'] as const
export type Role = (typeof ROLES)[number]

/** A caller's credential. Only its SHA-256 is stored; the key has 256 random bits, so no slow hash is needed. */
export interface ApiKey {
  readonly id: string
  readonly projectId: string
  readonly name: string
  readonly role: Role
  readonly hash: string
  readonly createdAt: EpochSeconds
  /** The key is refused from this time on. */
  readonly expiresAt?: EpochSeconds
  /** Requests per second for this key instead of the configured limit; 0 means no limit. */
  readonly rateLimit?: number
  /** The only user that the key may act for; absent: every user of the project. */
  readonly userId?: string | undefined
  /** Of an `approver`: the groups whose calls it lists and decides about; absent: all of the project. */
  readonly groups?: readonly string[] | undefined
  /**
   * The subject, at the issuer of the console, of the operator who made the key, or the key that made it. They do not decide
   * about its calls.
   */
  readonly createdBy?: string | undefined
  /** The id of the key that replaced this one when it was rotated. */
  readonly replacedBy?: string
  readonly lastUsedAt?: EpochSeconds
  readonly revokedAt?: EpochSeconds
  /** Keyed MAC over the members that grant rights (`protected-tables.ts`); the store writes it. */
  readonly mac?: string
}

/** What a key is made with. Its other members are written later, or are made with it. */
export type NewApiKey = Omit<ApiKey, 'id' | 'hash' | 'replacedBy' | 'lastUsedAt' | 'revokedAt' | 'mac'>

/** The prefixes a key may have. Arcade's MCP servers recognise a key only when it begins with `arc_`. */
export const KEY_PREFIXES = ['gp', 'arc'] as const
export type KeyPrefix = (typeof KEY_PREFIXES)[number]

/** Makes a key and its record. The key is returned once; only its hash is stored. */
export function issueApiKey(
  properties: NewApiKey,
  prefix: KeyPrefix = 'gp',
): { readonly key: string; readonly record: ApiKey } {
  const key = `${prefix}_${randomToken()}`
  return { key, record: { ...properties, id: newId('key'), hash: sha256(key) } }
}

/**
 * Makes the key that replaces `old` in a rotation: with the same properties, and with the same lifetime if `old` has one.
 * Both keys are valid until `old` expires or is revoked.
 */
export function rotatedApiKey(
  old: ApiKey,
  now: EpochSeconds,
  prefix: KeyPrefix = 'gp',
  createdBy?: string,
): { readonly key: string; readonly record: ApiKey } {
  const { id: _, hash, replacedBy, lastUsedAt, revokedAt, mac, createdAt, expiresAt, ...kept } = old
  const maker = createdBy !== undefined && { createdBy }
  const lifetime = expiresAt !== undefined && { expiresAt: now + Math.max(expiresAt - createdAt, 0) }
  return issueApiKey({ ...kept, createdAt: now, ...lifetime, ...maker }, prefix)
}

/** Whether `role` may do everything that `needed` may. */
export function includesRole(role: Role, needed: Role): boolean {
  // who makes calls must not decide about them, and who decides must not make them
  if (role === 'approver' || needed === 'approver') return role === needed
  return ROLES.indexOf(role) <= ROLES.indexOf(needed)
}

/**
 * The user for whom a request with the key acts: the key's own user, else the user `named` in the request, if any.
 * Throws `user_not_allowed` if the request names another user than the key's.
 */
export function userFor({ userId }: Pick<ApiKey, 'userId'>, named: string | undefined): string | undefined {
  if (userId === undefined || named === undefined || named === userId) return userId ?? named
  throw new BrokerError(
    'user_not_allowed',
    'This credential acts for one user only, and the request names another. Leave the user out, or use a key of that user.',
  )
}

export function isExpired({ expiresAt }: ApiKey, now: EpochSeconds): boolean {
  return expiresAt !== undefined && expiresAt <= now
}
