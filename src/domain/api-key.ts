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
  readonly lastUsedAt?: EpochSeconds
  readonly revokedAt?: EpochSeconds
}

/** A new key and its record. The key is shown once and cannot be had again. */
export function issueApiKey(of: Pick<ApiKey, 'projectId' | 'name' | 'role' | 'createdAt'>): {
  readonly key: string
  readonly record: ApiKey
} {
  const key = `gp_${randomToken()}`
  return { key, record: { ...of, id: newId('key'), hash: sha256(key) } }
}

export function mayAct(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed)
}
