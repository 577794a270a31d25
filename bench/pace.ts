/** `--quick`: few and short rounds, for trying something out; their figures are rough. */
export const isQuick = process.argv.includes('--quick')

/** The number of rounds, at most 3 with `--quick`. */
export function rounds(count: number): number {
  return isQuick ? Math.min(3, count) : count
}

/**
 * How long a server works before its rounds: until nearly every user has been asked for several times, last-used times
 * are written, and Node has compiled the code of a call.
 */
export const WARM_UP_MS = 12_000

/** The duration of a round or a warm-up, in milliseconds, shortened by `--quick`. */
export function lasting(ms: number): number {
  return isQuick ? Math.min(ms, Math.max(400, ms / 3)) : ms
}
