import type { EpochSeconds } from '../domain/clock.ts'

/**
 * The seconds that a Retry-After header asks to wait, from `now` on: at least 0 and at most `longestSeconds`.
 * `undefined` if there is none or it cannot be read. The header holds seconds or a date (RFC 9110 section 10.2.3);
 * fractions of a second, which the RFC does not have, are accepted.
 */
export function parseRetryAfter(
  value: string | undefined,
  now: EpochSeconds,
  longestSeconds: number,
): number | undefined {
  if (value === undefined) return undefined
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : Date.parse(value) / 1000 - now
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), longestSeconds) : undefined
}

/** A Retry-After header in seconds. The RFC has whole ones, so they are rounded up. */
export function formatRetryAfter(seconds: number): string {
  return String(Math.ceil(seconds))
}
