import type { EpochSeconds } from '../domain/clock.ts'

/** A time in which something is not tried. */
export interface Pause {
  readonly from: EpochSeconds
  readonly until: EpochSeconds
}

/** The seconds that are left of the pause. 0 also before its beginning: the clock was set back, and it would last too long. */
export function secondsLeft({ from, until }: Pause, now: EpochSeconds): number {
  return from <= now && now < until ? until - now : 0
}
