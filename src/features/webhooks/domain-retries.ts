import { FAILURES_UNTIL_PROBES } from './domain.ts'

// When a delivery that failed is attempted again, and when a webhook that fails is tried.

const MINUTE = 60
const HOUR = 60 * MINUTE

/** The seconds from each failed attempt to the next: 11 attempts in 71.6 hours. */
export const RETRY_SECONDS = [
  5,
  MINUTE,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  10 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const
/** The random part of each pause, so that attempts which failed together are not repeated together. */
const SPREAD = 0.1
/** The longest pause that a receiver may ask for by Retry-After. */
export const LONGEST_RETRY_SECONDS = 24 * HOUR

const FIRST_PROBE_SECONDS = 15
const LONGEST_PROBE_SECONDS = 5 * MINUTE
/** A webhook whose attempts have all failed for this long is disabled. */
export const DISABLED_AFTER_SECONDS = 3 * 24 * HOUR
/**
 * The seconds until the next attempt after the `attempt`th has failed; `undefined`: it was the last one.
 * @param random from 0 to 1
 */
export function retryPause(attempt: number, random: number, retryAfter = 0): number | undefined {
  const pause = RETRY_SECONDS[attempt - 1]
  if (pause === undefined) return undefined
  return Math.ceil(Math.max(pause * (1 - SPREAD + 2 * SPREAD * random), retryAfter))
}

/** The seconds until the next probe after `failures` failures in a row; `undefined`: too few failures for probes. */
export function probePause(failures: number): number | undefined {
  const probes = failures - FAILURES_UNTIL_PROBES
  if (probes < 0) return undefined
  return Math.min(FIRST_PROBE_SECONDS * 2 ** Math.min(probes, 10), LONGEST_PROBE_SECONDS)
}
