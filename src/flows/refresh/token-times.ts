import { createHash } from 'node:crypto'
import type { EpochSeconds } from '../../domain/clock.ts'
import { type Connection, refreshMargin } from '../../domain/connection.ts'
import type { Provider } from '../../providers/provider.ts'

/** What determines the times of tokens, besides the response that contained them. */
export interface TokenTimes {
  readonly provider?: TimingProvider
  /** The connection whose tokens were refreshed. */
  readonly before?: Pick<Connection, 'refresh' | 'refreshExpiresAt'>
  /** When the tokens were received; absent: now. */
  readonly receivedAt?: EpochSeconds | undefined
}

type TimingProvider = Pick<
  Provider,
  'refreshRequest' | 'renewalRequest' | 'refreshMarginSeconds' | 'refreshTokenLife' | 'keepAlive'
>

/** With margins up to this, `refresh-due.ts` finds due connections by the expiry of the access token. */
export const LONGEST_USUAL_MARGIN_SECONDS = 60
/** The part of its life after which a refresh token is used so that it does not expire, and an access token is renewed. */
const KEPT_ALIVE_AFTER = 0.8
const RENEWED_AFTER = 0.5
/** The random part of these times, so that tokens which were received together are not all refreshed together. */
const SPREAD = 0.1

/**
 * When the refresh token expires: by the response, else by the entry. A refresh token that was not replaced keeps its expiry,
 * unless the response or the entry's `idleSeconds` gives it a new one. An entry with both settings, whose refresh tokens are
 * not replaced: only the expiry is stored, so from the first refresh on, `idleSeconds` alone counts.
 */
export function refreshExpiry(
  { refreshTokenLife: { seconds, idleSeconds } = {} }: TimingProvider,
  received: {
    readonly receivedAt: EpochSeconds
    readonly refreshToken?: string | undefined
    readonly refreshExpiresIn?: number | undefined
  },
  before: TokenTimes['before'],
): EpochSeconds | undefined {
  const { receivedAt, refreshExpiresIn } = received
  const isNew = received.refreshToken !== undefined || before === undefined
  const life = refreshExpiresIn ?? (isNew ? seconds : undefined)
  const ends = [life, idleSeconds].flatMap((one) => (one === undefined ? [] : [receivedAt + one]))
  return ends.length > 0 ? Math.min(...ends) : isNew ? undefined : before?.refreshExpiresAt
}

/** `Connection.refreshAt`: the time of a background refresh that does not follow from the access token's expiry alone. */
export function backgroundRefreshAt(
  provider: TimingProvider,
  connectionId: string,
  times: {
    readonly receivedAt: EpochSeconds
    readonly expiresAt: EpochSeconds | undefined
    readonly refreshExpiresAt: EpochSeconds | undefined
    readonly hasRefresh: boolean
  },
): EpochSeconds | undefined {
  const { receivedAt, expiresAt, refreshExpiresAt, hasRefresh } = times
  const { renewalRequest, refreshRequest, refreshMarginSeconds = 0, keepAlive } = provider
  const early = 1 - SPREAD * spreadOf(`${connectionId} ${receivedAt}`)
  const after = (until: EpochSeconds, part: number) =>
    receivedAt + Math.floor((until - receivedAt) * part * early)
  if (renewalRequest !== undefined) {
    if (expiresAt === undefined) return undefined
    return Math.max(after(expiresAt, RENEWED_AFTER), receivedAt + renewalRequest.leastAgeSeconds)
  }
  if (!hasRefresh || refreshRequest === undefined) return undefined
  const moments = [
    ...(keepAlive === true && refreshExpiresAt !== undefined
      ? [after(refreshExpiresAt, KEPT_ALIVE_AFTER)]
      : []),
    ...(refreshMarginSeconds > LONGEST_USUAL_MARGIN_SECONDS && expiresAt !== undefined
      ? [Math.floor(expiresAt - 2 * refreshMargin({ receivedAt, expiresAt }, provider))]
      : []),
  ]
  return moments.length > 0 ? Math.max(Math.min(...moments), receivedAt + 1) : undefined
}

/** A number from 0 to 1 that is the same for the same text. */
export function spreadOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32
}
