import type { EpochSeconds } from '../domain/clock.ts'
import type { ExpirationFormat } from './request-block.ts'
import { type Members, readClaims } from './response-body.ts'

// How long the tokens of a token response live, from the members and formats in which servers tell it.

interface Format {
  readonly expirationFormat?: ExpirationFormat | undefined
  readonly now: EpochSeconds
}

/** Ten years: a greater number is a time, not a lifetime. */
export const LONGEST_LIFE_SECONDS = 10 * 365 * 86_400

/** The access token's remaining seconds, from 1 to ten years; `undefined` for any other value. */
export function readExpiry(answer: Members, { expirationFormat, now }: Format): number | undefined {
  return plausible(secondsLeft(answer, expirationFormat, now)) ?? plausible(toMoment(answer.expires_at, now))
}

/** Servers' names of the refresh token's lifetime: TikTok's and others', Keycloak's, QuickBooks'. */
const REFRESH_LIFETIMES = ['refresh_token_expires_in', 'refresh_expires_in', 'x_refresh_token_expires_in']

/** The refresh token's remaining seconds; `undefined` where the response has none, or 0 (it does not expire). */
export function readRefreshExpiry(answer: Members, now: EpochSeconds): number | undefined {
  const lifetimes = REFRESH_LIFETIMES.map((name) => plausible(toNumber(answer[name])))
  return (
    lifetimes.find((lifetime) => lifetime !== undefined) ??
    plausible(toMoment(answer.refresh_token_expires_at, now))
  )
}

function secondsLeft(
  { expires_in, access_token }: Members,
  format: ExpirationFormat | undefined,
  now: EpochSeconds,
): number | undefined {
  const given = toNumber(expires_in)
  switch (format) {
    case 'relative_milliseconds':
      return given === undefined ? undefined : given / 1000
    case 'absolute_unix_timestamp':
      // a small number is a lifetime, even if the entry announces a date
      return given !== undefined && given > LONGEST_LIFE_SECONDS ? toEpochSeconds(given) - now : given
    case 'iso_8601':
      return toMoment(expires_in, now)
    case 'access_token_jwt':
      return toMoment(readClaims(access_token)?.exp, now)
    default:
      return given
  }
}

function toMoment(value: unknown, now: EpochSeconds): number | undefined {
  const number = toNumber(value)
  if (number !== undefined) return toEpochSeconds(number) - now
  const isDate = typeof value === 'string' && /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(value)
  return isDate ? Date.parse(withZone(value)) / 1000 - now : undefined
}

/** A time without a zone is UTC. `Date.parse` would read it in the zone of this machine. */
function withZone(date: string): string {
  return /^\S{10}[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(date) ? `${date.replace(' ', 'T')}Z` : date
}

/** Seconds reach this number in the year 5138, milliseconds did in 1973. */
function toEpochSeconds(value: number): number {
  return value > 1e11 ? value / 1000 : value
}

function plausible(seconds: number | undefined): number | undefined {
  const whole = Math.floor(seconds ?? 0)
  return whole >= 1 && whole <= LONGEST_LIFE_SECONDS ? whole : undefined
}

/** The whole text must be a number: `parseFloat` would read "3600abc" as 3600. */
function toNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^\s*\d{1,15}(\.\d+)?\s*$/.test(value) ? Number(value) : undefined
}
