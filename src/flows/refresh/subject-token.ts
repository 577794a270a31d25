import type { Broker } from '../../broker.ts'
import { type Connection, isFresh } from '../../domain/connection.ts'
import { derivedFrom } from '../../domain/derived-account.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { ProviderRefusal } from '../../providers/provider-refusal.ts'
import type { RefreshOutcome } from '../../services/refresh-table.ts'
import { UnsealError } from '../../store/seal.ts'
import { getSubjectEntry, isSubject } from '../exchange-subject.ts'
import { providersOf } from '../get-provider.ts'
import { markUnusable } from '../mark-unusable.ts'
import { openAccess } from '../seal-grant.ts'
import { tokenAccount } from '../shared-token.ts'

/** The token that is exchanged (RFC 8693). */
export interface SubjectToken {
  readonly token: string
  /** The refreshed token, after the provider refused `token`; `undefined` if there is no other. Throws `ProviderRefusal`. */
  renew(): Promise<string | undefined>
}

/** As `refreshConnection`. */
type Refresh = (
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
  options?: { readonly rejected?: string },
) => Promise<RefreshOutcome>

const AUTHORIZATION_REQUIRED = { outcome: 'authorization_required' } as const

/**
 * The token of the connection from which `connection` is derived, refreshed if it has expired; `undefined` for an entry
 * that exchanges none; an outcome that ends the refresh when there is no such token. Read from the store, after the row
 * of `connection` was: so it is of the consent that the row is derived from.
 */
export async function findSubjectToken(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
  refresh: Refresh,
): Promise<SubjectToken | Exclude<RefreshOutcome, { outcome: 'usable' }> | undefined> {
  if (entry.provider.grant?.subject === undefined) return undefined
  const { projectId, userId, account, scopes } = connection
  const subject = getSubjectEntry(await providersOf(broker, projectId), entry)
  const stored = await broker.store.connections.find(derivedFrom(account.id))
  const isOfUser = stored?.projectId === projectId && stored.userId === userId
  if (!isOfUser || tokenAccount(stored, scopes) !== account.id) {
    // deleted or approved again since the caller read it, and the row was added after that
    await broker.store.connections.delete(connection.id)
    return stored === undefined ? AUTHORIZATION_REQUIRED : APPROVED_AGAIN
  }
  if (!isSubject(broker, subject, stored)) return AUTHORIZATION_REQUIRED
  const found = isFresh(stored, broker.now(), subject.provider)
    ? ({ outcome: 'usable', connection: stored } as const)
    : await refresh(broker, subject, stored)
  if (found.outcome !== 'usable') return found
  try {
    const token = openAccess(broker, found.connection).accessToken
    return { token, renew: () => renewed(broker, subject, found.connection, token, refresh) }
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error
    await markUnusable(broker, subject, found.connection, { reason: 'unreadable' })
    return AUTHORIZATION_REQUIRED
  }
}

const APPROVED_AGAIN = {
  outcome: 'provider_unavailable',
  message: 'The connection whose token is exchanged was just approved again. Try again.',
  retryAfter: 1,
} as const

async function renewed(
  broker: Broker,
  subject: ProviderEntry,
  connection: Connection,
  rejected: string,
  refresh: Refresh,
): Promise<string | undefined> {
  const again = await refresh(broker, subject, connection, { rejected })
  // no new consent while it is unknown whether a newer token would be accepted
  if (again.outcome === 'provider_unavailable')
    throw new ProviderRefusal('provider_unavailable', again.message, { retryAfter: again.retryAfter })
  if (again.outcome === 'authorization_required') return undefined
  const { accessToken } = openAccess(broker, again.connection)
  return accessToken === rejected ? undefined : accessToken
}
