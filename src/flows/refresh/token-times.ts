import { createHash } from 'node:crypto'
import type { EpochSeconds } from '../../domain/clock.ts'
import { type Connection, type RefreshSecrets, refreshMargin } from '../../domain/connection.ts'
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
 * When the refresh token expires. `endsAt`: however often it is used, by the response, else by the entry. A refresh token
 * that was not replaced keeps its end, unless the response has another. `expiresAt`: by the entry's `idleSeconds` too, if
 * it is not used before. `before`: the refresh token that was used.
 */
export function refreshTimes(
  { refreshTokenLife: { seconds, idleSeconds } = {} }: TimingProvider,
  received: {
    readonly receivedAt: EpochSeconds
    readonly refreshToken?: string | undefined
    readonly refreshExpiresIn?: number | undefined
  },
  before: Partial<RefreshSecrets> = {},
): { readonly endsAt?: EpochSeconds | undefined; readonly expiresAt?: EpochSeconds } {
  const { receivedAt, refreshToken = before.refreshToken, refreshExpiresIn } = received
  const isReplaced = refreshToken !== before.refreshToken
  const knownEnd = isReplaced ? undefined : before.endsAt
  const life = refreshExpiresIn ?? (knownEnd === undefined ? seconds : undefined)
  const endsAt = life === undefined ? knownEnd : receivedAt + life
  const idleAt = idleSeconds === undefined ? undefined : receivedAt + idleSeconds
  const ends = [endsAt, idleAt].filter((end) => end !== undefined)
  return { endsAt, ...(ends.length > 0 && { expiresAt: Math.min(...ends) }) }
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
