import type { Broker } from '../broker.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { AccessSecrets, Connection, RefreshSecrets } from '../domain/connection.ts'
import type { RefreshedTokens } from '../store/connection-refreshes.ts'
import { UnsealError } from '../store/seal.ts'
import { sealingContext } from '../store/sealed-columns.ts'
import { backgroundRefreshAt, refreshTimes, type TokenTimes } from './refresh/token-times.ts'

/** The row that the envelopes are bound to. */
export type ConnectionRow = Pick<Connection, 'id' | 'projectId' | 'userId' | 'providerUid'>

/** What is sealed as `Connection.access`. */
interface SealedAccess extends AccessSecrets {
  /** As in the row, which decides by them who gets the token; absent in envelopes of 0.1.0. */
  readonly granted?: Pick<Connection, 'scopes' | 'account'>
}

/** Tokens that were just received. `expiresIn` is in seconds; absent when it is unknown. */
export interface ReceivedTokens extends AccessSecrets {
  readonly refreshToken?: string | undefined
  readonly tokenType: string
  readonly scopes: readonly string[]
  readonly expiresIn?: number | undefined
  /** Seconds until the refresh token expires, if the provider said. */
  readonly refreshExpiresIn?: number | undefined
}

/** Seals tokens for the store. `before`: the connection whose tokens were refreshed. */
export function sealGrant(
  broker: Pick<Broker, 'sealer' | 'now'>,
  row: ConnectionRow & Pick<Connection, 'account'>,
  tokens: ReceivedTokens,
  { provider = {}, before, receivedAt = broker.now() }: TokenTimes = {},
): RefreshedTokens {
  const { accessToken, userInfo, extra, kept, tokenType, scopes, expiresIn } = tokens
  const seal = (secrets: SealedAccess | RefreshSecrets, column: 'access' | 'refresh') =>
    broker.sealer.seal(JSON.stringify(secrets), sealingContext('connections', column, row))
  const expiresAt = expiresIn === undefined ? undefined : receivedAt + expiresIn
  const opened = before && openRefresh(broker, { ...row, refresh: before.refresh })
  const held = opened && withKnownEnd(opened, before?.refreshExpiresAt, provider)
  const refreshToken = tokens.refreshToken ?? held?.refreshToken
  const hasRefresh = refreshToken !== undefined
  const times = hasRefresh ? refreshTimes(provider, { ...tokens, receivedAt }, held) : {}
  const { endsAt, expiresAt: refreshExpiresAt } = times
  const isSealed = tokens.refreshToken === undefined && endsAt === opened?.endsAt
  const refreshAt = backgroundRefreshAt(provider, row.id, {
    receivedAt,
    expiresAt,
    refreshExpiresAt,
    hasRefresh,
  })
  return {
    access: seal(
      {
        accessToken,
        userInfo,
        ...(extra !== undefined && { extra }),
        ...(kept !== undefined && { kept }),
        granted: { scopes, account: row.account },
      },
      'access',
    ),
    ...(hasRefresh &&
      !isSealed && {
        refresh: seal({ refreshToken, ...(endsAt !== undefined && { endsAt }) }, 'refresh'),
      }),
    tokenType,
    scopes,
    receivedAt,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(refreshExpiresAt !== undefined && { refreshExpiresAt }),
    ...(refreshAt !== undefined && { refreshAt }),
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
