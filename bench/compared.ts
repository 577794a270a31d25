import { type Figure, median, spread, whole } from './report.ts'
import { medianOf, type Pairs, type Repeated, type Round, ratios } from './rounds.ts'

const two = (value: number) => value.toFixed(2)

export interface Compared {
  /** The job that both servers did. */
  readonly name: string
  /** The other server and its job, in words. */
  readonly to: string
  readonly atLeast?: number
  /** The short name of the other server; `bare` by default. */
  readonly other?: string
  /** Adds the times that requests took. */
  readonly withTimes?: boolean
}

/** Gatepass as a ratio to what it is compared with: by throughput, which is judged, and by processor time. */
export function compared({ name, to, atLeast, withTimes, other = 'bare' }: Compared, pairs: Pairs): Figure[] {
  const { gatepass, bare, isQuiet } = pairs
  const byRate = ratios(gatepass, bare)
  const byCpu = ratios(bare, gatepass, ({ cpuMicros }) => cpuMicros)
  const both = (of: (round: Round) => number, show: (value: number) => string) =>
    `${show(medianOf(gatepass, of))}, ${show(medianOf(bare, of))}`
  const ms = (value: number) => `${value.toFixed(2)} ms`
  return [
    {
      name: `${name}: ratio to ${to}`,
      value: spread(byRate, two),
      ...(atLeast !== undefined && {
        target: `>= ${atLeast}`,
        met: median(byRate) >= atLeast,
        disturbed: !isQuiet,
      }),
    },
    {
      name: `  by processor time of the servers: ratio; a request at Gatepass, ${other}`,
      value: `${spread(byCpu, two)}; ${both(
        ({ cpuMicros }) => cpuMicros,
        (value) => `${whole(value)} us`,
      )}`,
    },
    { name: `  requests per second: Gatepass, ${other}`, value: both(({ rate }) => rate, whole) },
    ...(withTimes
      ? [
          {
            name: `  time of a request, p50 and p99: Gatepass, ${other}`,
            value: `${both(({ p50 }) => p50, ms)}; ${both(({ p99 }) => p99, ms)}`,
          },
        ]
      : []),
    ...disturbance(pairs),
  ]
}

/** A row that says how other programs disturbed the figure above it; none if the machine was quiet. */
export function disturbance({
  disturbed,
  tried,
  isQuiet,
  others,
}: Omit<Repeated<unknown>, 'values'>): Figure[] {
  if (disturbed === 0) return []
  const value = isQuiet
    ? `${disturbed} of ${tried} rounds, left out`
    : `${disturbed} of ${tried} rounds, ${others.toFixed(1)} cores: the figure does not count`
  return [{ name: '  DISTURBED: other programs used the processor in', value }]
}
