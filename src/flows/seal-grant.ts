import type { Broker } from '../broker.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { AccessSecrets, Connection, RefreshSecrets, SealedGrant } from '../domain/connection.ts'
import type { Grant } from '../providers/grant.ts'
import { sealingContext } from '../store/protected-tables.ts'
import { UnsealError } from '../store/seal.ts'
import { backgroundRefreshAt, refreshTimes, type TokenTimes } from './refresh/token-times.ts'

/** The row that the envelopes are bound to. */
export type ConnectionRow = Pick<Connection, 'id' | 'projectId' | 'userId' | 'providerUid'>

/** What is sealed as `Connection.access`. */
interface SealedAccess extends AccessSecrets {
  /** As in the row, which decides by them who gets the token; absent in envelopes of 0.1.0. */
  readonly granted?: Pick<Connection, 'scopes' | 'account'>
}

/** A grant whose scopes and user info are known, with the values that the entry keeps. */
export type CompleteGrant = Omit<Grant, 'account'> & AccessSecrets & Pick<Connection, 'scopes'>

/**
 * Seals a grant for the store. `before`: the connection whose tokens were refreshed. Without a new refresh token, there
 * is no `refresh`, and the stored one stays (RFC 6749 section 6).
 */
export function sealGrant(
  broker: Pick<Broker, 'sealer' | 'now'>,
  row: ConnectionRow & Pick<Connection, 'account'>,
  grant: CompleteGrant,
  { provider = {}, before, receivedAt = broker.now() }: TokenTimes = {},
): SealedGrant {
  const { accessToken, userInfo, extra, kept, dpopKey, tokenSecret, tokenType, scopes, expiresIn } = grant
  const seal = (secrets: SealedAccess | RefreshSecrets, column: 'access' | 'refresh') =>
    broker.sealer.seal(JSON.stringify(secrets), sealingContext('connections', column, row))
  const expiresAt = expiresIn === undefined ? undefined : receivedAt + expiresIn
  const opened = before && openRefresh(broker, { ...row, refresh: before.refresh })
  const held = opened && withKnownEnd(opened, before?.refreshExpiresAt, provider)
  const refreshToken = grant.refreshToken ?? held?.refreshToken
  const hasRefresh = refreshToken !== undefined
  const times = hasRefresh ? refreshTimes(provider, { ...grant, receivedAt }, held) : {}
  const { endsAt, expiresAt: refreshExpiresAt } = times
  const isSealed = grant.refreshToken === undefined && endsAt === opened?.endsAt
  const refreshAt = backgroundRefreshAt(provider, row.id, {
    receivedAt,
    expiresAt,
    refreshExpiresAt,
    hasRefresh,
  })
  return {
    access: seal(
      { accessToken, userInfo, extra, kept, dpopKey, tokenSecret, granted: { scopes, account: row.account } },
      'access',
    ),
    refresh: hasRefresh && !isSealed ? seal({ refreshToken, endsAt }, 'refresh') : undefined,
    tokenType,
    scopes,
    receivedAt,
    expiresAt,
    refreshExpiresAt,
    refreshAt,
  }
}

/**
 * Decrypts the access token. Throws `UnsealError` when the row was altered, its scopes and account too, and
 * `UnknownKeyError` when its key is missing.
 */
export function openAccess(broker: Broker, connection: Connection): AccessSecrets {
  const context = sealingContext('connections', 'access', connection)
  // only sealGrant seals this column, in this shape
  const { granted, ...secrets } = JSON.parse(broker.sealer.open(connection.access, context)) as SealedAccess
  if (granted === undefined || isAsGranted(connection, granted)) return secrets
  const { id, projectId } = connection
  broker.altered.found({ table: 'connections', id, projectId })
  throw new UnsealError('the scopes or the account of the connection are not those of its token', context)
}

function isAsGranted(
  { scopes, account }: Connection,
  granted: NonNullable<SealedAccess['granted']>,
): boolean {
  return (
    account.id === granted.account.id &&
    account.name === granted.account.name &&
    scopes.length === granted.scopes.length &&
    scopes.every((scope, i) => scope === granted.scopes[i])
  )
}

/** Decrypts the refresh token; `undefined` if the provider gave none. Throws like `openAccess`. */
export function openRefreshToken(broker: Broker, connection: Connection): string | undefined {
  return openRefresh(broker, connection)?.refreshToken
}

function openRefresh(
  { sealer }: Pick<Broker, 'sealer'>,
  connection: ConnectionRow & { readonly refresh?: Connection['refresh'] },
): RefreshSecrets | undefined {
  if (connection.refresh === undefined) return undefined
  // only sealGrant seals this column, in this shape
  return JSON.parse(
    sealer.open(connection.refresh, sealingContext('connections', 'refresh', connection)),
  ) as RefreshSecrets
}

/** Older envelopes have no `endsAt`. Without an idle limit, the expiry in the row is the end of the token's lifetime. */
function withKnownEnd(
  opened: RefreshSecrets,
  refreshExpiresAt: EpochSeconds | undefined,
  { refreshTokenLife }: NonNullable<TokenTimes['provider']>,
): RefreshSecrets {
  const isKnown = opened.endsAt !== undefined || refreshExpiresAt === undefined
  return isKnown || refreshTokenLife?.idleSeconds !== undefined
    ? opened
    : { ...opened, endsAt: refreshExpiresAt }
}
