import { uptime } from 'node:os'

/**
 * Returns a function that measures the milliseconds since this call, with the time in which the machine slept: on Linux
 * `performance.now()` does not advance then, but the machine's uptime does.
 */
export function elapsedClock(): () => number {
  const began = performance.now()
  const sleptThen = sleptMs()
  return () => performance.now() - began + Math.max(0, sleptMs() - sleptThen)
}

/** A larger difference between two clocks than reading one after the other makes. */
const NOTICED_MS = 100

/** The milliseconds that the machine slept up to the last reading of its uptime, from an unknown beginning. */
let slept = 0
/** The time of day less `performance.now()`, at that reading. */
let difference = Number.NaN

/**
 * Reads the uptime only when the time of day has moved against `performance.now()`, as it does after a sleep, or when
 * the clock is set: Node reads the uptime from a file, which took 4 % of a callback.
 */
function sleptMs(): number {
  const current = Date.now() - performance.now()
  if (Math.abs(current - difference) <= NOTICED_MS) return slept
  difference = current
  slept = uptime() * 1000 - performance.now()
  return slept
}
