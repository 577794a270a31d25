import type { Bench } from './bench.ts'
import { startGatepass } from './gatepass.ts'
import { freePort, startScript, untilHealthy } from './process.ts'
import { connectMany, type RawRequest, rawRequest } from './raw-client.ts'
import { type Figure, median, quantile, spread, whole } from './report.ts'
import { API_KEY, USERS, userName } from './seed.ts'

const ROUNDS = 5
const ROUND_MS = 1_500
const WARM_UP_MS = 4_000
/** One after the other for what a call costs its caller, many at once for what goes through. */
const ALONE = 1
const CROWD = 32

interface Round {
  readonly rate: number
  readonly p50: number
  readonly p99: number
}

interface Job {
  readonly port: number
  readonly requests: readonly RawRequest[]
  readonly ms: number
  readonly connections: number
  /** What every answer must hold. */
  readonly expects: string
}

/** What it costs to run a tool, and to ask a provider's API, through Gatepass instead of directly. */
export async function throughGatepass({ folder, load }: Bench): Promise<Figure[]> {
  const toolPort = await freePort()
  await using tools = startScript('tool-server.ts', [String(toolPort)])
  await untilHealthy(toolPort, tools)
  await using gatepass = await startGatepass(folder)
  const origin = `http://127.0.0.1:${toolPort}`
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const admin = async (method: string, path: string, body: unknown) => {
    const url = `http://127.0.0.1:${gatepass.port}${path}`
    const response = await fetch(url, { method, headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  }
  const http = { uri: origin, secret: 'bench-worker-secret', timeout: 10, retry: 0 }
  await admin('POST', '/v1/workers', { id: `bench-${toolPort}`, http })
  await admin('PATCH', '/v1/admin/auth_providers/bench', {
    oauth2: { api: { base_url: `${origin}/api`, hosts: [`127.0.0.1:${toolPort}`] } },
  })

  const users = Array.from({ length: USERS }, (_, i) => userName(i))
  const key = { authorization: `Bearer ${API_KEY}` }
  const execute = {
    name: 'execute, compared with calling the worker',
    expects: 'Hello, Ada!',
    direct: { port: toolPort, requests: [directCall()] },
    through: {
      port: gatepass.port,
      requests: users.map(
        (user_id): RawRequest => ({
          method: 'POST',
          path: '/v1/tools/execute',
          headers: key,
          body: { tool_name: 'Bench.Greet', user_id, input: { name: 'Ada' } },
        }),
      ),
    },
  }
  const proxy = {
    name: 'the proxy, compared with asking the API',
    expects: '"login":"ada"',
    direct: {
      port: toolPort,
      requests: [{ method: 'GET', path: '/api/user', headers: { authorization: 'Bearer t' } } as RawRequest],
    },
    through: {
      port: gatepass.port,
      requests: users.map(
        (user): RawRequest => ({
          method: 'GET',
          path: '/proxy/bench/user',
          headers: { ...key, 'x-gatepass-user': user },
        }),
      ),
    },
  }

  const figures: Figure[] = []
  for (const { name, expects, direct, through } of [execute, proxy]) {
    const run = (side: typeof direct, connections: number, ms = ROUND_MS) =>
      load.run({ module: import.meta.url, load: callLoad }, { ...side, connections, ms, expects })
    for (const side of [direct, through]) await run(side, CROWD, WARM_UP_MS)
    for (const connections of [ALONE, CROWD]) {
      const rounds: { direct: Round; through: Round }[] = []
      for (let i = 0; i < ROUNDS; i++)
        rounds.push({ direct: await run(direct, connections), through: await run(through, connections) })
      const ratio = (of: (round: Round) => number) => rounds.map((one) => of(one.through) / of(one.direct))
      const show = (value: number) => value.toFixed(2)
      const ms = (side: 'direct' | 'through', of: (round: Round) => number) =>
        `${median(rounds.map((one) => of(one[side]))).toFixed(2)} ms`
      const at = connections === 1 ? 'one at a time' : `${connections} at once`
      figures.push(
        {
          name: `${name}, ${at}: throughput`,
          value: spread(
            ratio(({ rate }) => rate),
            show,
          ),
        },
        {
          name: '  requests per second: through Gatepass, direct',
          value: `${whole(median(rounds.map((one) => one.through.rate)))}, ${whole(median(rounds.map((one) => one.direct.rate)))}`,
        },
        {
          name: '  p50: ratio; through Gatepass, direct',
          value: `${spread(
            ratio(({ p50 }) => p50),
            show,
          )}; ${ms('through', ({ p50 }) => p50)}, ${ms('direct', ({ p50 }) => p50)}`,
        },
        {
          name: '  p99: ratio; through Gatepass, direct',
          value: `${spread(
            ratio(({ p99 }) => p99),
            show,
          )}; ${ms('through', ({ p99 }) => p99)}, ${ms('direct', ({ p99 }) => p99)}`,
        },
      )
    }
  }
  return figures
}

/** The request that Gatepass makes of the worker. */
function directCall(): RawRequest {
  return {
    method: 'POST',
    path: '/worker/tools/invoke',
    headers: { authorization: 'Bearer signed' },
    body: {
      run_id: 'exec_1',
      execution_id: 'exec_1',
      created_at: new Date().toISOString(),
      tool: { name: 'Greet', toolkit: 'Bench', version: '1.0.0' },
      inputs: { name: 'Ada' },
      context: {
        authorization: { token: 'gho_'.padEnd(500, 'x'), user_info: { login: 'ada' } },
        secrets: [],
        metadata: [],
        user_id: 'ada',
      },
    },
  }
}

/** In the load process: as many calls as go through, each timed. */
export { callLoad as load }

async function callLoad({ port, requests, ms, connections: count, expects }: Job): Promise<Round> {
  const made = requests.map((request) => rawRequest(port, request))
  const connections = await connectMany(port, count)
  const times: number[] = []
  const begun = performance.now()
  let spinning = true
  const spin = () => void (spinning && setImmediate(spin))
  spin()
  await Promise.all(
    connections.map(async (connection) => {
      for (let now = performance.now(); now - begun < ms; ) {
        const request = made[Math.floor(Math.random() * made.length)] as Buffer // every index has one
        const { status, body } = await connection.send(request)
        if (status !== 200 || !body.includes(expects)) throw new Error(`not as expected: ${status} ${body}`)
        const after = performance.now()
        times.push(after - now)
        now = after
      }
      connection.close()
    }),
  )
  spinning = false
  const seconds = (performance.now() - begun) / 1000
  return { rate: times.length / seconds, p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}
