import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Bench } from './bench.ts'
import { disturbance } from './compared.ts'
import { fetchFrom } from './fetching.ts'
import { type Gatepass, startGatepass } from './gatepass.ts'
import { WARM_UP_MS } from './pace.ts'
import { type Figure, median, spread } from './report.ts'
import { type Round, repeat } from './rounds.ts'

const ROUNDS = 9
const KINDS = ['off', 'ratio 0.1', 'every trace, up to the cap'] as const

/** The fetch of a fresh token while traces are sent to a collector: processor time in proportion to that without. */
export async function traces(bench: Bench): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack()
  const collector = createServer((request, response) => request.resume().on('end', () => response.end()))
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  stack.defer(() => void collector.close())
  const { port } = collector.address() as AddressInfo // it listens on a port
  const sent = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_METRICS_EXPORTER: 'none' }
  const settings = [{}, sent, { ...sent, OTEL_TRACES_SAMPLER: 'always_on' }]
  const servers: Gatepass[] = []
  for (const one of settings) {
    const server = stack.use(await startGatepass(bench.folder, { settings: one }))
    await fetchFrom(bench.load, server, { ms: WARM_UP_MS / 2 })
    servers.push(server)
  }
  const repeated = await repeat(
    ROUNDS,
    async () => {
      const rounds: Round[] = []
      for (const server of servers) rounds.push(await fetchFrom(bench.load, server))
      return rounds
    },
    (rounds) => Math.max(...rounds.map(({ others }) => others)),
  )
  const microsOf = (rounds: readonly Round[], i: number) => rounds[i]?.cpuMicros ?? Number.NaN
  const figures = KINDS.map((kind, i): Figure => {
    const micros = median(repeated.values.map((rounds) => microsOf(rounds, i)))
    const ratio = repeated.values.map((rounds) => microsOf(rounds, i) / microsOf(rounds, 0))
    return {
      name: `fresh-token fetch, traces: ${kind}; server CPU per request, and as a ratio to "off"`,
      value: `${micros.toFixed(0)} us, ${spread(ratio, (value) => value.toFixed(2))}`,
    }
  })
  return [...figures, ...disturbance(repeated)]
}
