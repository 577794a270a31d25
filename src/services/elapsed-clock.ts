import { uptime } from 'node:os'

/**
 * Returns a function that measures the milliseconds since this call. On Linux `performance.now()` does not advance while
 * the machine sleeps, but the machine's uptime does: the clock that advanced more counts.
 */
export function elapsedClock(): () => number {
  const began = performance.now()
  const uptimeThen = uptime()
  return () => Math.max(performance.now() - began, (uptime() - uptimeThen) * 1000)
}
