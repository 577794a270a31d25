import type { Cause } from '../domain/causes.ts'
import type { Connection } from '../domain/connection.ts'
import { BrokerError } from '../domain/errors.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import type { Release } from '../services/release.ts'
import type { ConnectionOwner } from '../store/changes.ts'
import type { SubjectNeed } from './exchanged-token.ts'

/** The user, provider and scopes of a needed token. */
export interface TokenNeed {
  readonly projectId: string
  readonly userId: string
  /** As the caller found it. If it has changed since, the changed entry is used. */
  readonly entry: ProviderEntry
  /** Empty: a connection with any scopes is sufficient. */
  readonly scopes: readonly string[]
  /** A connection's id, or an account's id or name; absent: the default account. */
  readonly account?: string
  /** The API refused the current token: it is refreshed although it has not expired, unless it was issued just now. */
  readonly forceRefresh?: boolean
}

/** The ordinary outcomes of a request for a token. */
export type TokenOutcome =
  | ({ readonly outcome: 'ready' } & Release)
  | {
      readonly outcome: 'authorization_required'
      /** The existing connection that is not sufficient, if there is one. */
      readonly connection?: Connection
      readonly missingScopes: readonly string[]
      /** Where the needed provider exchanges a token of another one (RFC 8693): the consent that is missing is of that one. */
      readonly subject?: SubjectNeed
    }
  | {
      readonly outcome: 'provider_unavailable'
      readonly message: string
      /** Seconds. */
      readonly retryAfter: number
      readonly cause?: Cause
    }

/** The refusal of a request that needs a token which cannot be refreshed right now. */
export function unavailableError({
  message,
  retryAfter,
  cause,
}: Extract<TokenOutcome, { outcome: 'provider_unavailable' }>): BrokerError {
  return new BrokerError('provider_unavailable', message, { retryAfter, why: cause })
}

export function needOwner({ projectId, userId, entry }: Omit<TokenNeed, 'scopes'>): ConnectionOwner {
  return { projectId, userId, providerUid: entry.uid }
}
