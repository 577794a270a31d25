import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import { fitsPattern } from '../providers/callback-members.ts'
import { assertedSubject } from '../providers/grant-assertion.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import type { CachedConnection } from '../services/release.ts'
import { registeredClient } from './get-provider.ts'
import { tokenOf } from './shared-token.ts'

/**
 * The connection of the user with the token of the needed scopes that the client gets in their name. It may hold no token
 * yet: it counts as expired then. Throws `denied_by_policy` for a user whose id does not match the entry's pattern, also
 * one who matched before.
 */
export async function findImpersonatedToken(
  broker: Broker,
  { projectId, userId, scopes: needed }: { projectId: string; userId: string; scopes: readonly string[] },
  entry: ProviderEntry,
): Promise<CachedConnection> {
  if (!mayImpersonate(entry, userId))
    throw new BrokerError(
      'denied_by_policy',
      `${entry.provider.displayName} gives no token in the name of "${userId}": an administrator decides for which users, by oauth2.impersonation of PATCH /v1/admin/auth_providers/${entry.id}.`,
    )
  const scopes = needed.length > 0 ? needed : entry.provider.defaultScopes
  const name = assertedSubject(registeredClient(broker, entry), userId)
  return tokenOf(broker, entry, { projectId, userId, id: entry.id, name }, [...new Set(scopes)].sort())
}

/**
 * Whether the entry's client may ask for tokens in the name of the user. A server may read letters of other forms as the
 * usual ones (NFKC), so that an id with them would name another person there.
 */
export function mayImpersonate({ provider: { impersonation } }: ProviderEntry, userId: string): boolean {
  return (
    impersonation !== undefined &&
    userId === userId.normalize('NFKC') &&
    fitsPattern(impersonation.pattern, userId)
  )
}
