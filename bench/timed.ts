import { callsTo } from './calls.ts'
import { disturbance } from './compared.ts'
import type { Server } from './fetching.ts'
import type { LoadProcess } from './load-process.ts'
import { API_KEY } from './people.ts'
import type { RawRequest } from './raw-client.ts'
import { type Figure, spread, whole } from './report.ts'
import { medianOf, repeat } from './rounds.ts'

const ROUNDS = 5
const ROUND_MS = 500

export interface Timed {
  readonly name: string
  /** One of them is drawn at random for each request. */
  readonly paths: readonly string[]
  readonly expects: string
  /** Milliseconds that the median request may take. */
  readonly atMost?: number
}

/** How long requests take that are sent one at a time: the median, and the slowest. */
export async function timed(load: LoadProcess, server: Server, what: Timed): Promise<Figure[]> {
  const headers = { authorization: `Bearer ${API_KEY}` }
  const requests = what.paths.map((path): RawRequest => ({ method: 'GET', path, headers }))
  const calls = { requests, expects: what.expects, connections: 1, ms: ROUND_MS, generator: 'awake' } as const
  await callsTo(load, server, { ...calls, ms: 1 })
  const repeated = await repeat(
    ROUNDS,
    () => callsTo(load, server, calls),
    (round) => round.others,
  )
  const { values, isQuiet } = repeated
  const ms = (value: number) => `${value.toFixed(2)} ms`
  const cpu = medianOf(values, ({ cpuMicros }) => cpuMicros)
  const p50 = medianOf(values, (round) => round.p50)
  const { name, atMost } = what
  const most = Math.max(...values.map(({ worst }) => worst))
  return [
    {
      name: `${name}: time`,
      value: spread(
        values.map((round) => round.p50),
        ms,
      ),
      ...(atMost !== undefined && { target: `<= ${atMost} ms`, met: p50 <= atMost, disturbed: !isQuiet }),
    },
    { name: '  slowest; processor time of one', value: `${ms(most)}; ${whole(cpu)} us` },
    ...disturbance(repeated),
  ]
}
