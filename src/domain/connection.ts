import type { EpochSeconds } from './clock.ts'
import type { Sealed } from './sealed.ts'

/** A user's standing grant at a provider, with its tokens sealed. */
export interface Connection {
  readonly id: string
  readonly projectId: string
  readonly userId: string
  readonly providerUid: string
  /** Who approved, as the provider names them. Empty id: the provider did not say. */
  readonly account: Account
  /** What was granted, which may be less than was asked for. */
  readonly scopes: readonly string[]
  /** Scopes that were asked for and not granted: after how many consents in a row. */
  readonly withheldScopes: Readonly<Record<string, number>>
  readonly status: 'active' | 'needs_authorization'
  readonly statusReason?: NeedsAuthorizationReason
  readonly tokenType: string
  /** When the access token was received, and when it runs out; absent when the provider did not say. */
  readonly receivedAt: EpochSeconds
  readonly expiresAt?: EpochSeconds
  /** `AccessSecrets` as JSON: what a fetch needs, apart from the rest so that a fetch opens nothing else. */
  readonly access: Sealed
  /** `RefreshSecrets` as JSON; absent when there is no refresh token. */
  readonly refresh?: Sealed
  /** The hosts and client the user approved (`identityOf`): tokens are never sent where another identity points. */
  readonly providerIdentity: string
  /** The account that is used when a call names none. */
  readonly isDefault: boolean
  /** Counts the writes of tokens: the compare-and-set of a refresh compares this. */
  readonly generation: number
  /** Refresh requests that were sent with the stored refresh token and whose outcome is not known. */
  readonly unansweredRefreshes: number
  readonly createdAt: EpochSeconds
  /** When the user set out for the consent that stands: of two, the one that was begun later counts. */
  readonly consentedAt: EpochSeconds
  readonly lastUsedAt?: EpochSeconds
}

export interface Account {
  readonly id: string
  readonly name: string
}

export interface AccessSecrets {
  readonly accessToken: string
  /** What the provider tells of the account: given to tools as `user_info`. */
  readonly userInfo: Readonly<Record<string, unknown>>
  /** What else the token response and the authorization response told, such as `instance_url` or `realmId`. */
  readonly extra?: Readonly<Record<string, unknown>>
}

export interface RefreshSecrets {
  readonly refreshToken: string
}

/** Why a connection cannot be used until the user approves again. */
export type NeedsAuthorizationReason =
  | 'refresh_refused'
  | 'token_expired'
  | 'provider_changed'
  | 'refresh_outcome_lost'
  | 'account_changed'
  | 'unreadable'

type Life = Pick<Connection, 'receivedAt' | 'expiresAt'>

/** This long before its end a token is refreshed: a tenth of its life, at most 60 s. */
export function refreshMargin({ receivedAt, expiresAt }: Life): number {
  if (expiresAt === undefined) return 0
  return Math.min(60, Math.max(0, expiresAt - receivedAt) / 10)
}

/**
 * Whether the token is used without a refresh. One that was received later than now tells of a clock that was wrong,
 * by more than the margin makes up for: its end is wrong too, so it is not believed (a clock was set back, or another
 * node's is ahead).
 */
export function isFresh(connection: Life, now: EpochSeconds): boolean {
  const { receivedAt, expiresAt } = connection
  if (expiresAt === undefined) return true
  const margin = refreshMargin(connection)
  return now < expiresAt - margin && receivedAt <= now + margin
}

/** Whether the token has not run out, as far as is known. */
export function isAlive({ expiresAt }: Pick<Life, 'expiresAt'>, now: EpochSeconds): boolean {
  return expiresAt === undefined || now < expiresAt
}

/** The connection a call means: the named account (by connection id, account id or name), else the default. */
export function chooseConnection<C extends Pick<Connection, 'id' | 'account' | 'isDefault'>>(
  connections: readonly C[],
  account?: string,
): C | undefined {
  if (account === undefined) return connections.find((one) => one.isDefault) ?? connections[0]
  return (
    connections.find((one) => one.id === account) ??
    connections.find((one) => one.account.id !== '' && one.account.id === account) ??
    connections.find((one) => one.account.name !== '' && one.account.name === account)
  )
}
