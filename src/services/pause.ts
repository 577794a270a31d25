import type { EpochSeconds } from '../domain/clock.ts'

/** A time in which something is not tried. */
export interface Pause {
  readonly from: EpochSeconds
  readonly until: EpochSeconds
}

/** The seconds left. Also 0 before the beginning: the clock was set back since, and the pause would last too long. */
export function secondsLeft({ from, until }: Pause, now: EpochSeconds): number {
  return from <= now && now < until ? until - now : 0
}
