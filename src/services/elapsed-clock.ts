import { uptime } from 'node:os'

/**
 * Gives a function that tells the milliseconds since this call. While a machine sleeps, `performance.now()` stands
 * still on Linux and the machine's uptime does not: the clock that advanced more counts.
 */
export function elapsedClock(): () => number {
  const began = performance.now()
  const uptimeThen = uptime()
  return () => Math.max(performance.now() - began, (uptime() - uptimeThen) * 1000)
}
