import { adminOf } from './admin.ts'
import { startBare } from './bare.ts'
import { type Bench, folderIn, type Place } from './bench.ts'
import { type Calls, callsTo } from './calls.ts'
import { compared, disturbance } from './compared.ts'
import { flushing } from './disk-probe.ts'
import { executeFor } from './execute.ts'
import type { Server } from './fetching.ts'
import { importedTool } from './many-tools.ts'
import { WARM_UP_MS } from './pace.ts'
import { API_KEY, USERS, userName } from './people.ts'
import type { RawRequest } from './raw-client.ts'
import { type Figure, median, spread, whole } from './report.ts'
import { type Alternated, alternate, medianOf, type Round, ratios, repeat } from './rounds.ts'
import { CROWD, startToolSide } from './tool-side.ts'
import { IN } from './warm-fetch.ts'

const ROUNDS = 5
const ROUND_MS = 1_500
const ALONE = 1
const LISTED_TOOLS = 1_000
/** How many times as long as an `execute` a `tools/call` may take, with the database in memory. */
const MOST_OF_EXECUTE = { [ALONE]: 1.2, [CROWD]: 1.3 } as const
const LEAST_OF_BARE = 0.6
const MOST_LIST_MS = 5

type Run = (calls: Omit<Calls, 'ms' | 'generator'>, ms?: number) => Promise<Round>

/**
 * What MCP adds to a call of a tool, compared with `execute` and with a bare server of the same SDK that calls the same
 * worker; and what a list of many tools costs. The worker answers at once.
 */
export async function overMcp(bench: Bench, place: Place): Promise<Figure[]> {
  const folder = await folderIn(bench, place)
  // Gatepass does not serve /mcp without a verifier
  await using side = await startToolSide(folder, {
    settings: { GATEPASS_USER_VERIFIER: 'https://app.example/verify', GATEPASS_RATE_LIMIT: '0' },
  })
  const { gatepass, toolPort } = side
  await using bareServer = await startBare(folder, { toolPort })
  const post = adminOf(gatepass.port)
  const admin = (path: string, body: unknown) => post('POST', path, body)
  await admin('/v1/toolsets', { id: `bench-${place}`, tools: ['Bench.Greet'] })

  const users = Array.from({ length: USERS }, (_, i) => userName(i))
  const params = { name: 'Bench_Greet', arguments: { name: 'Ada' } }
  const callAt = (path: string) => users.map((user) => mcpRequest('tools/call', params, user, path))
  const to =
    (server: Server, requests: readonly RawRequest[]) =>
    (connections: number, ms = ROUND_MS) =>
      callsTo(bench.load, server, {
        requests,
        expects: 'Hello, Ada!',
        connections,
        ms,
        // of many at once, the worker needs the core of a generator that spins
        generator: connections === ALONE ? 'awake' : 'asleep',
      })
  const execute = to(gatepass, users.map(executeFor))
  const gatepassMcp = to(gatepass, callAt(`/mcp/bench-${place}`))
  const bareMcp = to(bareServer, callAt('/mcp/bench'))
  for (const run of [bareMcp, execute, gatepassMcp]) await run(CROWD, WARM_UP_MS)

  const figures = await flushing(folder, place)
  for (const connections of [ALONE, CROWD] as const) {
    const sides = await alternate(ROUNDS, {
      gatepass: () => gatepassMcp(connections),
      execute: () => execute(connections),
      bare: () => bareMcp(connections),
    })
    const at = connections === ALONE ? 'one at a time' : `${connections} at once`
    const name = `tools/call at /mcp, warm, database ${IN[place]}, ${at}`
    const job = { name, to: 'a bare server of the same SDK', withTimes: true }
    const isJudged = place === 'memory' && connections === CROWD
    figures.push(
      ...comparedWithExecute(name, sides, place === 'memory' ? MOST_OF_EXECUTE[connections] : undefined),
      ...compared({ ...job, ...(isJudged && { atLeast: LEAST_OF_BARE }) }, sides),
    )
  }
  const run: Run = (calls, ms = ROUND_MS) =>
    callsTo(bench.load, gatepass, { ...calls, ms, generator: 'awake' })
  return place === 'disk' ? figures : [...figures, ...(await listOfMany(admin, run))]
}

/** How many times as long a call takes as `execute`, by the rates at the same number of callers. */
function comparedWithExecute(
  name: string,
  { gatepass, execute, isQuiet }: Alternated<'gatepass' | 'execute'>,
  most: number | undefined,
): Figure[] {
  const two = (value: number) => value.toFixed(2)
  const times = ratios(execute, gatepass)
  const micros = (rounds: readonly Round[]) => `${whole(medianOf(rounds, ({ cpuMicros }) => cpuMicros))} us`
  return [
    {
      name: `${name}: time of a call, compared with execute`,
      value: spread(times, two),
      ...(most !== undefined && { target: `<= ${most}`, met: median(times) <= most, disturbed: !isQuiet }),
    },
    {
      name: '  by processor time of the server; a call, an execute',
      value: `${spread(
        ratios(gatepass, execute, ({ cpuMicros }) => cpuMicros),
        two,
      )}; ${micros(gatepass)}, ${micros(execute)}`,
    },
  ]
}

/** Clients request the list one after another, so the figure is the time that each of them waits. */
async function listOfMany(
  admin: (path: string, body: unknown) => Promise<unknown>,
  run: Run,
): Promise<Figure[]> {
  const names = Array.from({ length: LISTED_TOOLS }, (_, i) => `Tool${i}`)
  await admin(
    '/v1/tools/import',
    names.map((name) => importedTool(name)),
  )
  await admin('/v1/toolsets', { id: 'many', namespaces: ['many'], listing: 'all' })
  const job = {
    requests: [mcpRequest('tools/list', {}, userName(0), '/mcp/many')],
    expects: `"many_Tool${LISTED_TOOLS - 1}"`,
    connections: ALONE,
  }
  await run(job)
  const repeated = await repeat(
    ROUNDS,
    () => run(job),
    ({ others }) => others,
  )
  const times = repeated.values.map(({ p50 }) => p50)
  return [
    {
      name: `tools/list of ${whole(LISTED_TOOLS)} tools: p50`,
      value: spread(times, (value) => `${value.toFixed(2)} ms`),
      target: `under ${MOST_LIST_MS} ms`,
      met: median(times) < MOST_LIST_MS,
      disturbed: !repeated.isQuiet,
    },
    ...disturbance(repeated),
  ]
}

function mcpRequest(method: string, params: object, user: string, path: string): RawRequest {
  const name = 'name' in params ? { 'mcp-name': String(params.name) } : {}
  return {
    method: 'POST',
    path,
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'x-gatepass-user': user,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...name,
    },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
          'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
        },
      },
    },
  }
}
