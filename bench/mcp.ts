import { adminOf } from './admin.ts'
import type { Bench } from './bench.ts'
import { type Calls, callsTo } from './calls.ts'
import { executeFor } from './execute.ts'
import { importedTool } from './many-tools.ts'
import { API_KEY, USERS, userName } from './people.ts'
import type { RawRequest } from './raw-client.ts'
import { type Figure, median, spread, whole } from './report.ts'
import type { Round } from './rounds.ts'
import { CROWD, startToolSide } from './tool-side.ts'

const ROUNDS = 7
const ROUND_MS = 1_500
const WARM_UP_MS = 3_000
const ALONE = 1
const LISTED_TOOLS = 1_000
/** `tools/call` may cost this much of `execute`. */
const MOST_OF_EXECUTE = 1.3
const MOST_LIST_MS = 5

type Run = (calls: Omit<Calls, 'ms' | 'generator'>, ms?: number) => Promise<Round>

/** What MCP adds to a call of a tool, and what a list of many tools costs. */
export async function overMcp({ folder, load }: Bench): Promise<Figure[]> {
  // Gatepass does not serve /mcp without a verifier
  await using side = await startToolSide(folder, {
    settings: { GATEPASS_USER_VERIFIER: 'https://app.example/verify', GATEPASS_RATE_LIMIT: '0' },
  })
  const { gatepass } = side
  const post = adminOf(gatepass.port)
  const admin = (path: string, body: unknown) => post('POST', path, body)
  await admin('/v1/toolsets', { id: 'bench', tools: ['Bench.Greet'] })

  const users = Array.from({ length: USERS }, (_, i) => userName(i))
  const execute = users.map(executeFor)
  const params = { name: 'Bench_Greet', arguments: { name: 'Ada' } }
  const call = users.map((user) => mcpRequest('tools/call', params, user))
  const run: Run = (calls, ms = ROUND_MS) => callsTo(load, gatepass, { ...calls, ms, generator: 'awake' })

  const figures: Figure[] = []
  const sides = [
    { requests: execute, expects: 'Hello, Ada!' },
    { requests: call, expects: 'Hello, Ada!' },
  ] as const
  for (const side of sides) await run({ ...side, connections: CROWD }, WARM_UP_MS)
  for (const connections of [ALONE, CROWD]) {
    const ratios: number[] = []
    const times: number[] = []
    const rates: number[] = []
    for (let i = 0; i < ROUNDS; i++) {
      const [plain, mcp] = [await run({ ...sides[0], connections }), await run({ ...sides[1], connections })]
      ratios.push(plain.rate / mcp.rate)
      times.push(mcp.p50)
      rates.push(mcp.rate)
    }
    const at = connections === ALONE ? 'one at a time' : `${connections} at once`
    figures.push(
      {
        name: `tools/call at /mcp, ${at}: time of a call, compared with execute`,
        value: spread(ratios, (value) => value.toFixed(2)),
        target: `at most ${MOST_OF_EXECUTE}`,
        met: median(ratios) <= MOST_OF_EXECUTE,
      },
      {
        name: '  p50; calls per second',
        value: `${median(times).toFixed(2)} ms; ${whole(median(rates))}`,
      },
    )
  }
  return [...figures, await listOfMany(admin, run)]
}

/** Clients request the list one after another, so the figure is the time that each of them waits. */
async function listOfMany(
  admin: (path: string, body: unknown) => Promise<unknown>,
  run: Run,
): Promise<Figure> {
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
  const times: number[] = []
  for (let i = 0; i < ROUNDS; i++) times.push((await run(job)).p50)
  return {
    name: `tools/list of ${whole(LISTED_TOOLS)} tools: p50`,
    value: spread(times, (value) => `${value.toFixed(2)} ms`),
    target: `under ${MOST_LIST_MS} ms`,
    met: median(times) < MOST_LIST_MS,
  }
}

function mcpRequest(method: string, params: object, user: string, path = '/mcp/bench'): RawRequest {
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
