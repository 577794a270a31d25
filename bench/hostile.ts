import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startBare } from './bare.ts'
import type { Bench } from './bench.ts'
import { startGatepass } from './gatepass.ts'
import { clearHolds, longestHolds } from './holds.ts'
import { addTools } from './hostile-tools.ts'
import { API_KEY, accessSecrets, authorizeBody, userName } from './people.ts'
import { freePort, type Started, startScript, untilHealthy } from './process.ts'
import { connect, type RawRequest, rawRequest } from './raw-client.ts'
import { type Figure, median } from './report.ts'
import { seed } from './seed.ts'

const AT_ONCE = 20
const ROUND_MS = 6_000
const PAUSE_MS = 5
/** The targets hold for a machine that does nothing else. */
const MEDIAN_MS = 50
const WORST_MS = 150
/** Before and after each round the same is measured without hostile calls: a round counts if both stayed under this. */
const QUIET_MS = 40
const CONTROL_MS = 1_000
/** How many rounds of each way must count, and how many are tried for that. */
const ROUNDS = 2
const MAX_ROUNDS = 4
const OTHER_KEY = 'bench-other-project-key'
const USER = userName(0)

interface Watched {
  readonly port: number
  readonly request: RawRequest
}

interface Job {
  readonly watched: Readonly<Record<string, Watched>>
  readonly ms: number
}

/** Milliseconds, by the name of the request. */
type Times = Readonly<Record<string, readonly number[]>>

const HEALTH = '/health'
const FETCH = "another project's token"
const BARE = 'a bare server'

/** The latency of other requests while tools answer 20 calls at once with 4 MB that are hard to read, for each endpoint. */
export async function hostileAnswers({ folder, load, upstream }: Bench): Promise<Figure[]> {
  await seed(folder, upstream.port, 10, { name: 'other', apiKey: OTHER_KEY })
  const toolPort = await freePort()
  await using tools = startScript('hostile-server.ts', [String(toolPort)])
  await untilHealthy(toolPort, tools)
  const holds = join(folder, 'holds')
  clearHolds(holds)
  await using gatepass = await startGatepass(folder, { holds })
  await using bare = await startBare(folder)
  const { port } = gatepass
  await addTools(port, toolPort)

  const health: RawRequest = { method: 'GET', path: '/health' }
  const token: RawRequest = {
    method: 'POST',
    path: '/v1/auth/authorize',
    headers: { authorization: `Bearer ${OTHER_KEY}` },
    body: authorizeBody(userName(3)),
  }
  const watched: Job['watched'] = {
    [HEALTH]: { port, request: health },
    [FETCH]: { port, request: token },
    [BARE]: { port: bare.port, request: health },
  }
  const watch = (ms: number): Promise<Times> =>
    load.run({ module: import.meta.url, load: watchLoad }, { watched, ms })
  const controls: Times[] = []
  const control = async () => {
    await untilIdle(gatepass)
    const times = await watch(CONTROL_MS)
    controls.push(times)
    return Math.max(...[HEALTH, FETCH, BARE].flatMap((what) => times[what] ?? []))
  }

  const figures: Figure[] = []
  await watch(1_000) // the first run measures compilation
  for (const [name, call] of Object.entries(WAYS)) {
    await answered(port, call) // starts the threads
    const rounds: Round[] = []
    let before = await control()
    for (let tries = 0; tries < MAX_ROUNDS && rounds.filter(isQuiet).length < ROUNDS; tries++) {
      const over = new AbortController()
      clearHolds(holds)
      const watching = watch(ROUND_MS).finally(() => over.abort())
      const lanes = Array.from({ length: AT_ONCE }, () => callRepeatedly(port, call, over.signal))
      const calls = (await Promise.all(lanes)).reduce((sum, one) => sum + one, 0)
      const times = await watching
      const held = longestHolds(holds).all
      const after = await control()
      rounds.push({ calls, times, held, noise: Math.max(before, after) })
      before = after
    }
    figures.push(...toFigures(name, rounds))
  }
  const all = joined(controls)
  const quiet = Object.keys(watched).map((what) => ({
    name: `nothing hostile, in turn with what follows: ${what}`,
    value: shown(all[what] ?? []),
  }))
  return [...quiet, ...figures]
}

interface Round {
  /** The longest hold of the event loop, in milliseconds of processor time. */
  readonly held: number
  readonly calls: number
  readonly times: Times
  /** The slowest request without hostile calls, right before and right after the round. */
  readonly noise: number
}

function isQuiet({ noise }: Round): boolean {
  return noise < QUIET_MS
}

/** Waits until the server is idle: work for callers that have disconnected may still run in a thread. */
async function untilIdle({ cpuMs }: Started): Promise<void> {
  for (let used = cpuMs(); ; ) {
    await sleep(200)
    const now = cpuMs()
    if (now - used <= 20) return
    used = now
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
/** The answer to one more piece of code than may run at once for one key. */
const BUSY = 429

/** Makes one call after the other until `signal` is aborted. Returns how many were carried out. */
async function callRepeatedly(port: number, way: Way, signal: AbortSignal): Promise<number> {
  for (let calls = 0; ; )
    try {
      if (await answered(port, way, signal)) calls++
    } catch (error) {
      if (signal.aborted) return calls
      throw error
    }
}

/** Whether the call was carried out: `false` for code beyond what may run at once for one key. */
async function answered(
  port: number,
  { path, method, headers, body }: Way,
  signal?: AbortSignal,
): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: method ?? 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  })
  if (response.status === BUSY && path.includes('/code/')) {
    await response.text()
    await sleep(100)
    return false
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
  return true
}

/**
 * Leaves out rounds during which other programs disturbed the machine. Where too few rounds are left, all are shown and
 * none counts.
 */
function toFigures(name: string, rounds: readonly Round[]): Figure[] {
  const quiet = rounds.filter(isQuiet)
  const isNoisy = quiet.length < ROUNDS
  const counted = isNoisy ? rounds : quiet
  const calls = counted.reduce((sum, one) => sum + one.calls, 0)
  const times = joined(counted.map((one) => one.times))
  const noise = Math.max(...counted.map((one) => one.noise))
  const held = Math.max(...rounds.map((one) => one.held))
  const loop = {
    name: `${name}: processor time of the event loop at a stretch`,
    value: `at most ${held.toFixed(0)} ms`,
    target: `< ${WORST_MS} ms`,
    met: held < WORST_MS,
  }
  const latencies = Object.entries(times).map(([what, all]): Figure => {
    const about = { name: `${name}, ${AT_ONCE} at once, ${calls} answered: ${what}`, value: shown(all) }
    if (what === BARE) return about
    return {
      ...about,
      value: isNoisy ? `${about.value} (not a quiet machine: ${noise.toFixed(0)} ms without)` : about.value,
      target: `< ${MEDIAN_MS} ms, worst < ${WORST_MS} ms`,
      met: median(all) < MEDIAN_MS && Math.max(...all) < WORST_MS && calls > 0,
      disturbed: isNoisy,
    }
  })
  return [...latencies, loop]
}

function shown(times: readonly number[]): string {
  return `${median(times).toFixed(1)} ms, worst ${Math.max(...times).toFixed(1)} ms`
}

function joined(all: readonly Times[]): Times {
  const names = Object.keys(all[0] ?? {})
  return Object.fromEntries(names.map((name) => [name, all.flatMap((one) => one[name] ?? [])]))
}

export { watchLoad as load }

/** Runs in the load process: sends each request again and again, with a pause between, and times it. */
async function watchLoad({ watched, ms }: Job): Promise<Times> {
  const begun = performance.now()
  const times = await Promise.all(
    Object.entries(watched).map(async ([name, { port, request }]) => {
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
