/** Seconds since the epoch, UTC. Every time that is kept or compared is one. */
export type EpochSeconds = number

/** The only source of the time in `domain/`, `flows/` and `store/`; tests pass their own. */
export type Clock = () => EpochSeconds

/** The machine's clock. */
export const systemClock: Clock = () => Math.floor(Date.now() / 1000)

/** How long something took, in whole milliseconds, those that have begun counted: never 0 for what took any time. */
export function wholeMilliseconds(elapsed: number): number {
  return Math.ceil(elapsed)
}

/** RFC 3339 in UTC, as the wire has it. */
export function toTimestamp(at: EpochSeconds): string {
  return new Date(at * 1000).toISOString()
}
