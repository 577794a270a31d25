import { type ApiKey, userFor } from '../../domain/api-key.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { KeysOfUsers } from '../../operations/operation.ts'
import type { KnownMembers } from '../../parsing/known-members.ts'

/** Throws `insufficient_role` for a key of one user at an endpoint that refuses such keys. */
export function checkKeyOfUser({ userId }: ApiKey, allowed: KeysOfUsers | undefined): void {
  if (userId !== undefined && allowed === undefined)
    throw new BrokerError(
      'insufficient_role',
      'This key acts for one user only, and this endpoint does not act for one user. Use a key that was made without a user.',
    )
}

/**
 * Returns the query or the body with the `user_id` of the key, if the key acts for one user and the schema has that
 * member. Throws `user_not_allowed` if the query or the body names another user.
 */
export function withUserOfKey(value: unknown, known: KnownMembers, key: ApiKey): unknown {
  if (key.userId === undefined || known.members?.has('user_id') !== true) return value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { user_id: named } = value as { readonly user_id?: unknown } // any object may be read by this name
  if (named === undefined || named === null) return { ...value, user_id: key.userId }
  if (typeof named === 'string') userFor(key, named)
  return value
}
