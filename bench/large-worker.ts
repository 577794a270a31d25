import { join } from 'node:path'
import { adminOf } from './admin.ts'
import type { Bench } from './bench.ts'
import { callsTo } from './calls.ts'
import { disturbance } from './compared.ts'
import { startGatepass } from './gatepass.ts'
import { clearHolds, longestHolds } from './holds.ts'
import { watchOthers } from './machine.ts'
import { isQuick } from './pace.ts'
import { freePort, startScript, untilHealthy } from './process.ts'
import { type Figure, median, spread, whole } from './report.ts'
import { repeat } from './rounds.ts'
import { seedOwn } from './seed.ts'

const TOOLS = isQuick ? 1_000 : 10_000
const ROUNDS = 3
const MOST_SECONDS = 5
const MOST_HELD_MS = 50
const LEAST_WATCHED_MS = 6_000

/** A worker with many tools: the time until all are listed, and how long other requests wait meanwhile. */
export async function largeWorker(bench: Bench): Promise<Figure[]> {
  const toolPort = await freePort()
  await using tools = startScript('tool-server.ts', [String(toolPort), '0', String(TOOLS)])
  await untilHealthy(toolPort, tools)
  const repeated = await repeat(
    ROUNDS,
    (number) => registered(bench, toolPort, `large-worker-${number}`),
    ({ others }) => others,
  )
  const { values, isQuiet } = repeated
  const seconds = median(values.map((one) => one.seconds))
  const cpu = median(values.map((one) => one.cpuSeconds))
  const held = median(values.map((one) => one.heldMs))
  const health = median(values.map((one) => one.healthMs))
  return [
    {
      name: `a worker with ${whole(TOOLS)} tools, until they are listed`,
      value: spread(
        values.map((one) => one.seconds),
        (value) => `${value.toFixed(1)} s`,
      ),
      target: `<= ${MOST_SECONDS} s`,
      met: seconds <= MOST_SECONDS,
      disturbed: !isQuiet,
    },
    { name: '  processor time of the server', value: `${cpu.toFixed(1)} s` },
    {
      name: '  slowest /health meanwhile; processor time of the event loop at a stretch',
      value: `${whole(health)} ms; ${whole(held)} ms`,
      target: `<= ${MOST_HELD_MS} ms`,
      met: Math.max(health, held) <= MOST_HELD_MS,
      disturbed: !isQuiet,
    },
    ...disturbance(repeated),
  ]
}

async function registered(bench: Bench, toolPort: number, name: string) {
  const folder = await seedOwn(bench, name, 10)
  const holds = join(folder, 'holds')
  clearHolds(holds)
  await using gatepass = await startGatepass(folder, { holds })
  const admin = adminOf(gatepass.port)
  const http = { uri: `http://127.0.0.1:${toolPort}`, secret: 'bench-worker-secret', timeout: 60, retry: 0 }
  const requests = [{ method: 'GET', path: '/health' }] as const
  const watch = { requests, expects: '', connections: 1, ms: LEAST_WATCHED_MS, generator: 'asleep' } as const
  await callsTo(bench.load, gatepass, { ...watch, ms: 500 })
  clearHolds(holds) // the start does not count
  const watched = callsTo(bench.load, gatepass, watch)
  const othersSince = watchOthers()
  const [begun, cpu] = [performance.now(), gatepass.cpuMs()]
  await admin('POST', '/v1/workers', { id: 'large', http })
  for (let listed = 0; listed < TOOLS; ) {
    const page = (await admin('GET', '/v1/tools?limit=1')) as { total_count: number }
    listed = page.total_count
  }
  const seconds = (performance.now() - begun) / 1000
  const cpuSeconds = (gatepass.cpuMs() - cpu) / 1000
  const others = othersSince()
  const { worst } = await watched
  const heldMs = longestHolds(holds).all
  return { seconds, cpuSeconds, heldMs, healthMs: worst, others }
}
