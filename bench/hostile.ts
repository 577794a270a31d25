import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from './bench.ts'
import { startGatepass } from './gatepass.ts'
import { freePort, startScript, untilHealthy } from './process.ts'
import { connect, type RawRequest, rawRequest } from './raw-client.ts'
import { type Figure, median } from './report.ts'
import { API_KEY, accessSecrets, authorizeBody, seed, userName } from './seed.ts'

const AT_ONCE = 20
const ROUND_MS = 6_000
const PAUSE_MS = 5
const MEDIAN_MS = 50
const WORST_MS = 150
const OTHER_KEY = 'bench-other-project-key'
const USER = userName(0)

interface Job {
  readonly port: number
  readonly requests: Readonly<Record<string, RawRequest>>
  readonly ms: number
}

/** Milliseconds, by the name of the request. */
type Times = Readonly<Record<string, readonly number[]>>

/** What others notice while a tool answers 20 calls at once with 4 MB that are hard to read, by each way in. */
export async function hostileAnswers({ folder, load, upstream }: Bench): Promise<Figure[]> {
  await seed(folder, upstream.port, 10, { name: 'other', apiKey: OTHER_KEY })
  const toolPort = await freePort()
  await using tools = startScript('hostile-server.ts', [String(toolPort)])
  await untilHealthy(toolPort, tools)
  await using gatepass = await startGatepass(folder)
  const { port } = gatepass
  await addTools(port, toolPort)

  const watched: Job['requests'] = {
    '/health': { method: 'GET', path: '/health' },
    "another project's token": {
      method: 'POST',
      path: '/v1/auth/authorize',
      headers: { authorization: `Bearer ${OTHER_KEY}` },
      body: authorizeBody(userName(3)),
    },
  }
  const watch = (ms: number): Promise<Times> =>
    load.run({ module: import.meta.url, load: watchLoad }, { port, requests: watched, ms })

  const figures: Figure[] = []
  await watch(1_000) // what comes first finds nothing compiled
  figures.push(...toFigures('nothing hostile', await watch(2_000)))
  for (const [name, call] of Object.entries(WAYS)) {
    await answered(port, call) // starts the threads
    const over = new AbortController()
    const watching = watch(ROUND_MS).finally(() => over.abort())
    const lanes = Array.from({ length: AT_ONCE }, () => again(port, call, over.signal))
    const calls = (await Promise.all(lanes)).reduce((sum, one) => sum + one, 0)
    figures.push(...toFigures(`${name}, ${AT_ONCE} at once, ${calls} answered`, await watching))
  }
  return figures
}

async function addTools(port: number, toolPort: number): Promise<void> {
  const origin = `http://127.0.0.1:${toolPort}`
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const admin = async (method: string, path: string, body: unknown) => {
    const url = `http://127.0.0.1:${port}${path}`
    const response = await fetch(url, { method, headers, body: JSON.stringify(body) })
    const text = await response.text()
    if (!response.ok || text.includes('sync_error'))
      throw new Error(`${method} ${path}: ${response.status} ${text}`)
  }
  const id = (name: string) => `${name}-${toolPort}`
  await admin('POST', '/v1/workers', {
    id: id('arcade'),
    http: { uri: origin, secret: 'bench-worker-secret', timeout: 30, retry: 0 },
  })
  await admin('POST', '/v1/workers', { id: id('oxp'), oxp: { uri: `${origin}/oxp`, timeout: 30, retry: 0 } })
  await admin('POST', '/v1/workers', { id: id('mcp'), mcp: { uri: `${origin}/mcp`, timeout: 30, retry: 0 } })
  await admin('POST', '/v1/workers', {
    id: id('api'),
    openapi: { document: apiDocument(origin), namespace: 'Api', timeout: 30, retry: 0 },
  })
  await admin('PATCH', '/v1/admin/auth_providers/bench', {
    oauth2: { api: { base_url: `${origin}/api`, hosts: [`127.0.0.1:${toolPort}`] } },
  })
}

function apiDocument(origin: string): object {
  const flow = {
    authorizationUrl: `${origin}/authorize`,
    tokenUrl: `${origin}/token`,
    scopes: { repo: 'All' },
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Api', version: '1.0.0' },
    servers: [{ url: `${origin}/api` }],
    components: { securitySchemes: { bench: { type: 'oauth2', flows: { authorizationCode: flow } } } },
    paths: {
      '/hostile': {
        get: {
          operationId: 'Hostile',
          security: [{ bench: ['repo'] }],
          responses: { 200: { description: 'Much', content: { 'application/json': { schema: {} } } } },
        },
      },
    },
  }
}

interface Way {
  readonly path: string
  readonly method?: 'GET'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

const execute = (tool_name: string): Way => ({
  path: '/v1/tools/execute',
  body: { tool_name, user_id: USER, input: {} },
})
const run = (path: string): Way => ({ path, body: { toolId: 'Arcade.Hostile', user_id: USER, args: {} } })
const WAYS: Readonly<Record<string, Way>> = {
  execute: execute('Arcade.Hostile'),
  run: run('/v1/tools/run'),
  run_stream: run('/v1/tools/run_stream'),
  OXP: {
    path: '/oxp/tools/call',
    body: { request: { tool_id: 'Oxp.Hostile', input: {}, context: { user_id: USER } } },
  },
  'an MCP tool': execute('hostile.Hostile'),
  'an OpenAPI tool': execute('Api.Hostile'),
  'the proxy': { method: 'GET', path: '/proxy/bench/hostile', headers: { 'x-gatepass-user': USER } },
  code: {
    path: '/v1/code/execute',
    body: {
      user_id: USER,
      limits: { memory_mb: 256 },
      code: 'try { return Object.keys(await tools.call("Arcade.Hostile", {})).length } catch (e) { return e.kind }',
    },
  },
}
/** Not more pieces of code than that run for one key. */
const BUSY = 429

/** One call after the other until they are stopped; answers how many were answered. */
async function again(port: number, way: Way, signal: AbortSignal): Promise<number> {
  for (let calls = 0; ; calls++)
    try {
      await answered(port, way, signal)
    } catch (error) {
      if (signal.aborted) return calls
      throw error
    }
}

async function answered(
  port: number,
  { path, method, headers, body }: Way,
  signal?: AbortSignal,
): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: method ?? 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  })
  if (response.status === BUSY && path.includes('/code/')) {
    await response.text()
    await sleep(100)
    return
  }
  let size = 0
  let head = ''
  const token = Buffer.from(accessSecrets(USER).accessToken)
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (head.length < 500) head += Buffer.from(chunk).toString('latin1', 0, 500)
    if (Buffer.from(chunk).includes(token)) throw new Error(`${path} has let the token out`)
  }
  const isWhole = size > 100_000 || path.includes('/code/')
  if (response.status !== 200 || !isWhole) throw new Error(`not as expected: ${response.status} ${head}`)
}

function toFigures(name: string, times: Times): Figure[] {
  return Object.entries(times).map(([what, all]) => {
    const [middle, worst] = [median(all), Math.max(...all)]
    return {
      name: `${name}: ${what}`,
      value: `${middle.toFixed(1)} ms, worst ${worst.toFixed(1)} ms`,
      target: `< ${MEDIAN_MS} ms, worst < ${WORST_MS} ms`,
      met: middle < MEDIAN_MS && worst < WORST_MS,
    }
  })
}

/** In the load process: each request again and again, with a pause between. */
export { watchLoad as load }

async function watchLoad({ port, requests, ms }: Job): Promise<Times> {
  const begun = performance.now()
  const times = await Promise.all(
    Object.entries(requests).map(async ([name, request]) => {
      const made = rawRequest(port, request)
      const connection = await connect(port)
      const all: number[] = []
      while (performance.now() - begun < ms) {
        const before = performance.now()
        const { status, body } = await connection.send(made)
        all.push(performance.now() - before)
        if (status !== 200) throw new Error(`${name}: ${status} ${body}`)
        await sleep(PAUSE_MS)
      }
      connection.close()
      return [name, all] as const
    }),
  )
  return Object.fromEntries(times)
}
