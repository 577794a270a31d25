import { adminOf } from './admin.ts'
import { startBare } from './bare.ts'
import { type Bench, folderIn, type Place } from './bench.ts'
import { type Calls, callsTo } from './calls.ts'
import { compared } from './compared.ts'
import { flushing } from './disk-probe.ts'
import type { Server } from './fetching.ts'
import { type Gatepass, type GatepassOptions, startGatepass } from './gatepass.ts'
import { WARM_UP_MS } from './pace.ts'
import { API_KEY, USERS, USERS_WITH_AT, userName, userWithAt } from './people.ts'
import { freePort, startScript, untilHealthy } from './process.ts'
import type { RawRequest } from './raw-client.ts'
import type { Figure } from './report.ts'
import { alternate } from './rounds.ts'
import { IN } from './warm-fetch.ts'

/** How long the worker and the API take for each answer. */
const ANSWER_MS = 2
const ROUNDS = 5
const FURTHER_ROUNDS = 3
const ROUND_MS = 1_500
/** One call at a time shows its latency, many at once the throughput. */
const ALONE = 1
export const CROWD = 32

/** A worker with one tool, an API for the proxy, and the Gatepass at which both are registered. */
export interface ToolSide extends AsyncDisposable {
  readonly toolPort: number
  readonly gatepass: Gatepass
}

export async function startToolSide(
  folder: string,
  { answerMs = 0, ...options }: { answerMs?: number } & GatepassOptions = {},
): Promise<ToolSide> {
  const toolPort = await freePort()
  const tools = startScript('tool-server.ts', [String(toolPort), String(answerMs)])
  await untilHealthy(toolPort, tools)
  const gatepass = await startGatepass(folder, options)
  const origin = `http://127.0.0.1:${toolPort}`
  const admin = adminOf(gatepass.port)
  const http = { uri: origin, secret: 'bench-worker-secret', timeout: 10, retry: 0 }
  const worker = `bench-${toolPort}`
  await admin('POST', '/v1/workers', { id: worker, http })
  await admin('PATCH', '/v1/admin/auth_providers/bench', {
    oauth2: { api: { base_url: `${origin}/api`, hosts: [`127.0.0.1:${toolPort}`] } },
  })
  const stop = async () => {
    try {
      await admin('DELETE', `/v1/workers/${worker}`) // the next figure on this database has another worker
    } finally {
      await gatepass.stop()
      await tools.stop()
    }
  }
  return { toolPort, gatepass, [Symbol.asyncDispose]: stop }
}

/** A job that Gatepass and the bare server do with the same worker. */
export interface ToolJob {
  readonly name: string
  readonly to: string
  /** The target with 32 at once and the database in memory. */
  readonly atLeast: number
  readonly expects: string
  requests(users: readonly string[]): readonly RawRequest[]
}

/** A job through Gatepass as a ratio to the bare server, which asks the same worker for the same. */
export async function throughBoth(bench: Bench, job: ToolJob, place: Place): Promise<Figure[]> {
  const folder = await folderIn(bench, place)
  const { load } = bench
  await using side = await startToolSide(folder, { answerMs: ANSWER_MS })
  const { gatepass, toolPort } = side
  await using bare = await startBare(folder, { toolPort })
  const callsOf = (who: readonly string[]): Omit<Calls, 'connections' | 'ms'> => ({
    requests: job.requests(who),
    expects: job.expects,
    generator: 'asleep', // one that spins would take a core from the worker
  })
  const usual = callsOf(Array.from({ length: USERS }, (_, i) => userName(i)))
  const round = (server: Server, calls: typeof usual, connections: number, ms = ROUND_MS) =>
    callsTo(load, server, { ...calls, connections, ms })
  const pairs = (count: number, calls: typeof usual, connections: number) =>
    alternate(count, {
      gatepass: () => round(gatepass, calls, connections),
      bare: () => round(bare, calls, connections),
    })
  for (const server of [bare, gatepass]) await round(server, usual, CROWD, WARM_UP_MS)
  const { to, atLeast } = job
  const name = `${job.name}, warm, database ${IN[place]}`
  const figures = [
    ...(await flushing(folder, place)),
    ...compared(
      { name: `${name}, ${CROWD} at once`, to, withTimes: true, ...(place === 'memory' && { atLeast }) },
      await pairs(ROUNDS, usual, CROWD),
    ),
    ...compared(
      { name: `${name}, one at a time`, to, withTimes: true },
      await pairs(FURTHER_ROUNDS, usual, ALONE),
    ),
  ]
  if (place === 'disk') return figures
  const slow = callsOf(Array.from({ length: USERS_WITH_AT }, (_, i) => userWithAt(i)))
  await round(gatepass, slow, CROWD)
  return [
    ...figures,
    ...compared(
      { name: `${name}, ${CROWD} at once, tokens with @ (searched for in more forms)`, to },
      await pairs(FURTHER_ROUNDS, slow, CROWD),
    ),
  ]
}

export const CALLER = { authorization: `Bearer ${API_KEY}` }
