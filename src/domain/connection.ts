import type { EpochSeconds } from './clock.ts'
import type { Sealed } from './sealed.ts'

/** The tokens of a grant as they are stored. */
export interface SealedGrant {
  /** The granted scopes, which may be fewer than were requested. */
  readonly scopes: readonly string[]
  readonly tokenType: string
  /** When the access token was received. */
  readonly receivedAt: EpochSeconds
  /** When the access token expires; absent when the provider did not say. */
  readonly expiresAt?: EpochSeconds | undefined
  /** When the refresh token expires if it is not used before; absent when that is unknown. */
  readonly refreshExpiresAt?: EpochSeconds | undefined
  /** The latest time of the background refresh; absent: it follows from `expiresAt`. */
  readonly refreshAt?: EpochSeconds | undefined
  /** `AccessSecrets` as JSON. Separate from `refresh`, so that fetching a token does not decrypt the refresh token. */
  readonly access: Sealed
  /** `RefreshSecrets` as JSON; absent when there is no refresh token, or when a refresh brought no new one. */
  readonly refresh?: Sealed | undefined
}

/** A user's standing grant at a provider, with its tokens sealed. */
export interface Connection extends SealedGrant {
  readonly id: string
  readonly projectId: string
  readonly userId: string
  readonly providerUid: string
  /** The account that approved, as the provider names it. Its id is empty if the provider did not say. */
  readonly account: Account
  /** Scopes that were requested and not granted, with the number of consecutive consents that withheld each. */
  readonly withheldScopes: Readonly<Record<string, number>>
  readonly status: 'active' | 'needs_authorization'
  readonly statusReason?: NeedsAuthorizationReason
  /**
   * The hosts and client the user approved (`identityOf`): tokens are never sent to a provider with another identity.
   */
  readonly providerIdentity: string
  /** The account that is used when a call names none. */
  readonly isDefault: boolean
  /** Counts writes of tokens. A refresh compares it before it stores new ones (compare-and-set). */
  readonly generation: number
  /** Refresh requests sent with the stored refresh token whose outcome is unknown. */
  readonly unansweredRefreshes: number
  /** When the first of these requests was sent. */
  readonly unansweredSince?: EpochSeconds
  readonly createdAt: EpochSeconds
  /** When the attempt began that led to the current consent. Of two concurrent consents, the one begun later wins. */
  readonly consentedAt: EpochSeconds
  readonly lastUsedAt?: EpochSeconds
  /** When the API first refused a typed credential that it has not taken since. */
  readonly refusedAt?: EpochSeconds
}

/** A user's account at a provider. */
export interface Account {
  readonly id: string
  readonly name: string
}

/** The content of `Connection.access`. */
export interface AccessSecrets {
  readonly accessToken: string
  /** Claims about the account; tools receive them as `user_info`. */
  readonly userInfo: Readonly<Record<string, unknown>>
  /** Other members of the token response and the authorization response, such as `instance_url` or `realmId`. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined
  /** Values for the entry's `keptValues` and variables; each key names where the value came from (`kept-values.ts`). */
  readonly kept?: Readonly<Record<string, string>> | undefined
  /** The key that the tokens are bound to (RFC 9449); absent for bearer tokens. It never leaves but in an export. */
  readonly dpopKey?: ProofKey | undefined
  /** What signs requests with the token (RFC 5849); absent for tokens of OAuth 2. It never leaves but in an export. */
  readonly tokenSecret?: string | undefined
}

/** A private key as a JWK, with the algorithm of its signatures. */
export interface ProofKey {
  readonly alg: string
  readonly kty: string
  readonly crv: string
  readonly x: string
  readonly y?: string
  readonly d: string
}

/** The content of `Connection.refresh`. */
export interface RefreshSecrets {
  readonly refreshToken: string
  /** When the refresh token expires, however often it is used; absent when that is unknown. */
  readonly endsAt?: EpochSeconds | undefined
}

/** Why a connection cannot be used until the user approves again. */
export const NEEDS_AUTHORIZATION_REASONS = [
  'refresh_refused',
  'consent_withdrawn',
  'token_expired',
  'refresh_token_expired',
  'provider_changed',
  'refresh_outcome_lost',
  'account_changed',
  'credential_refused',
  'installation_removed',
  'unreadable',
] as const

export type NeedsAuthorizationReason = (typeof NEEDS_AUTHORIZATION_REASONS)[number]

type TokenLifetime = Pick<Connection, 'receivedAt' | 'expiresAt'>

/** The part of a provider that decides when its tokens are refreshed. */
export interface RefreshTiming {
  /** Seconds; the default is a tenth of the token's lifetime, at most 60. */
  readonly refreshMarginSeconds?: number
}

/** How many seconds before expiry a token is refreshed. Never more than half its lifetime. */
export function refreshMargin(
  { receivedAt, expiresAt }: TokenLifetime,
  { refreshMarginSeconds }: RefreshTiming,
): number {
  if (expiresAt === undefined) return 0
  const lifetime = Math.max(0, expiresAt - receivedAt)
  return refreshMarginSeconds === undefined
    ? Math.min(60, lifetime / 10)
    : Math.min(refreshMarginSeconds, lifetime / 2)
}

/**
 * Whether the token can be used without a refresh. A token that was received later than `now`, by more than the margin,
 * shows that a clock is wrong (set back, or ahead on another node). Its expiry is then unreliable, so it counts as stale.
 */
export function isFresh(connection: TokenLifetime, now: EpochSeconds, timing: RefreshTiming = {}): boolean {
  const { receivedAt, expiresAt } = connection
  if (expiresAt === undefined) return true
  const margin = refreshMargin(connection, timing)
  return now < expiresAt - margin && receivedAt <= now + margin
}

/** Whether the token has not expired; one without a known expiry never has. */
export function isAlive({ expiresAt }: Pick<TokenLifetime, 'expiresAt'>, now: EpochSeconds): boolean {
  return expiresAt === undefined || now < expiresAt
}

/** Whether the refresh token has expired; one without a known expiry never has. */
export function isRefreshTokenExpired(
  { refreshExpiresAt }: Pick<Connection, 'refreshExpiresAt'>,
  now: EpochSeconds,
): boolean {
  return refreshExpiresAt !== undefined && now >= refreshExpiresAt
}

/** What rows are derived from that have only the token of some scopes of this connection (`derived-account.ts`). */
export function scopeSetsOf(connectionId: string): string {
  return `of_${connectionId}`
}

/** Whether the row is one of `scopeSetsOf`. Users are shown no such rows: these come and go with their connection. */
export function isScopeSet({ account }: Pick<Connection, 'account'>): boolean {
  return /^of_conn_[0-9a-f]{32} [\w-]{43}$/.test(account.id)
}

/** The id of the connection whose scope set the row is; `undefined` for other rows. */
export function connectionOfScopeSet(row: Pick<Connection, 'account'>): string | undefined {
  return isScopeSet(row) ? row.account.id.split(' ', 1)[0]?.slice(scopeSetsOf('').length) : undefined
}

/** Chooses the connection for a call: the named account (by connection id, account id or name), else the default. */
export function chooseConnection<C extends Pick<Connection, 'id' | 'account' | 'isDefault'>>(
  all: readonly C[],
  account?: string,
): C | undefined {
  const connections = all.filter((connection) => !isScopeSet(connection))
  if (account === undefined) return connections.find((connection) => connection.isDefault) ?? connections[0]
  return (
    connections.find((connection) => connection.id === account) ??
    connections.find((connection) => connection.account.id !== '' && connection.account.id === account) ??
    connections.find((connection) => connection.account.name !== '' && connection.account.name === account)
  )
}

/** How a connection was ended. */
export interface ConnectionEnding {
  readonly by: 'user' | 'operator'
  /**
   * `pending`: the provider is asked to revoke the grant; `unsupported`: it
   * offers no revocation; `not_attempted`: its entry was deleted with all connections.
   */
  readonly revocation: 'pending' | 'unsupported' | 'not_attempted'
}

/** The members that every connection has which a consent, an import or an administrator has just made. */
export const NEW_CONNECTION = {
  withheldScopes: {},
  status: 'active',
  isDefault: false,
  generation: 1,
  unansweredRefreshes: 0,
} as const
