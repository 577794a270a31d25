import type { EpochSeconds } from './clock.ts'
import { newId, randomToken, sha256 } from './ids.ts'

/** `admin` may do everything; `caller` uses tools and tokens; `readonly` looks, and never gets a token. */
export const ROLES = ['admin', 'caller', 'readonly'] as const
export type Role = (typeof ROLES)[number]

/** A caller's credential, kept as its SHA-256 (the key itself has 256 random bits, so no slow hash is needed). */
export interface ApiKey {
  readonly id: string
  readonly projectId: string
  readonly name: string
  readonly role: Role
  readonly hash: string
  readonly createdAt: EpochSeconds
  /** From then on it is refused. */
  readonly expiresAt?: EpochSeconds
  /** Requests a second, in place of the setting; 0: any number. */
  readonly rateLimit?: number
  /** The key that takes its place, since it was rotated. */
  readonly replacedBy?: string
  readonly lastUsedAt?: EpochSeconds
  readonly revokedAt?: EpochSeconds
  /** Of the members that give power (`signed-rows.ts`); the store writes it. */
  readonly mac?: string
}

export type KeyOrder = Pick<ApiKey, 'projectId' | 'name' | 'role' | 'createdAt' | 'expiresAt' | 'rateLimit'>

/** How a key begins. Arcade's MCP servers take a key for one only when it begins with `arc_`. */
export const KEY_PREFIXES = ['gp', 'arc'] as const
export type KeyPrefix = (typeof KEY_PREFIXES)[number]

/** A new key and its record. The key is shown once and cannot be had again. */
export function issueApiKey(
  of: KeyOrder,
  prefix: KeyPrefix = 'gp',
): { readonly key: string; readonly record: ApiKey } {
  const key = `${prefix}_${randomToken()}`
  return { key, record: { ...of, id: newId('key'), hash: sha256(key) } }
}

/**
 * The key that takes another's place: the same project, role, name and limit, and as long a life if it has an end.
 * Both are good until the old one ends.
 */
export function successor(
  old: ApiKey,
  now: EpochSeconds,
  prefix: KeyPrefix = 'gp',
): { readonly key: string; readonly record: ApiKey } {
  const { projectId, name, role, createdAt, expiresAt, rateLimit } = old
  const order = {
    projectId,
    name,
    role,
    createdAt: now,
    ...(expiresAt !== undefined && { expiresAt: now + Math.max(expiresAt - createdAt, 0) }),
    ...(rateLimit !== undefined && { rateLimit }),
  }
  return issueApiKey(order, prefix)
}

export function mayAct(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed)
}

export function isExpired({ expiresAt }: ApiKey, now: EpochSeconds): boolean {
  return expiresAt !== undefined && expiresAt <= now
}
