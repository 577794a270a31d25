/** Seconds since the Unix epoch, UTC. The unit of every stored or compared time. */
export type EpochSeconds = number

/** The only source of the time in `domain/`, `flows/` and `store/`; tests pass their own. */
export type Clock = () => EpochSeconds

/** A clock that cannot be set: it runs from the machine's start, and all processes of the machine read the same time. */
export interface SteadyClock {
  /** Identifies this start of the machine. */
  readonly bootId: string
  /** When the machine started, in milliseconds since the Unix epoch, by what its settable clock says now. */
  readonly startedAt: number
  /** Milliseconds since the machine started. */
  milliseconds(): number
}

/** The machine's clock, which administrators and NTP set. */
export const systemClock: Clock = () => Math.floor(Date.now() / 1000)

/** Elapsed milliseconds, rounded up, so that a duration is 0 only if no time passed. */
export function wholeMilliseconds(elapsed: number): number {
  return Math.ceil(elapsed)
}

/** Recently formatted times: most are the present second, or when a connection in use expires. */
const formatted: { readonly at: EpochSeconds; readonly text: string }[] = []
const MOST_FORMATTED = 1024

/** Formats a time as RFC 3339 in UTC, for the wire. */
export function toTimestamp(at: EpochSeconds): string
export function toTimestamp(at: EpochSeconds | undefined): string | undefined
export function toTimestamp(at: EpochSeconds | undefined): string | undefined {
  if (at === undefined) return undefined
  const known = formatted[at % MOST_FORMATTED]
  if (known?.at === at) return known.text
  const text = new Date(at * 1000).toISOString()
  if (Number.isInteger(at) && at >= 0) formatted[at % MOST_FORMATTED] = { at, text }
  return text
}

/** Reads an RFC 3339 timestamp. Fractions of a second are cut off. */
export function fromTimestamp(text: string): EpochSeconds {
  return Math.floor(Date.parse(text) / 1000)
}
