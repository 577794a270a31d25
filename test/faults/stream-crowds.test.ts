import { createConnection, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { rawRequest } from '../../bench/raw-client.ts'
import { API_KEY } from '../served.ts'
import { until } from '../until.ts'
import { type Installation, install, type Node, report } from './installation.ts'
import { repetitions } from './repetitions.ts'

// Streams of runs at one `gatepass serve`: their clients never read, and some of their tools send events without end.

const HEAP = new URL('./heap.ts', import.meta.url).href
const TOOLS = fileURLToPath(new URL('../fixtures/run-tools.ts', import.meta.url))
const READERS = repetitions({ few: 400, many: 1_000 })
const FLOODS = repetitions({ few: 60, many: 150 })
/** The events of all streams may hold a quarter of this; the rest is for their connections. */
const MOST_BYTES = 256 * 2 ** 20
const headers = { authorization: `Bearer ${API_KEY}` }

test(`of ${READERS} streams that are not read, the ${FLOODS} whose tools flood are stopped; memory is bounded, the others go on`, async () => {
  await using installation = await install('SQLite', { GATEPASS_TOOLS: TOOLS })
  const node = await installation.start({ nodeArgs: ['--expose-gc', '--import', HEAP] })
  await run(installation, 'Run:Ran', 'warm')
  const before = await held(node)

  const ids = Array.from({ length: READERS }, (_, i) => `${i}`)
  const sockets = await Promise.all(
    ids.map((key, i) => unread(node, i < FLOODS ? 'Run:Floods' : 'Run:Waits', key)),
  )
  let most = 0
  const answered = async (tool: string, keys: readonly string[], said: unknown) => {
    const answers = await Promise.all(keys.map((key) => run(installation, tool, key)))
    return answers.every((answer) => answer === said)
  }
  await until(async () => {
    most = Math.max(most, await held(node))
    return answered('Run:Heard', ids.slice(0, FLOODS), 'stopped')
  })
  // streams that only wait stay open, and a client that reads gets all events of its own
  expect(await answered('Run:Ran', ids.slice(FLOODS, FLOODS + 50), 1)).toBe(true)
  expect(await answered('Run:Heard', ids.slice(FLOODS, FLOODS + 50), 'nothing')).toBe(true)
  const events = await read(node, 'Run:Says', { to: 500 })
  expect([events.filter((kind) => kind === 'chunk').length, events.at(-1)]).toEqual([500, 'done'])

  most = Math.max(most, await held(node))
  // a client that reads at last gets an error at the end of its stream
  const late = await Promise.all(sockets.slice(0, FLOODS).map(endsOf))
  expect(new Set(late.map(String))).toEqual(new Set(['error']))
  for (const socket of sockets) socket.destroy()
  await until(() => answered('Run:Heard', ids.slice(FLOODS, FLOODS + 50), 'cancelled'))
  await until(async () => (await held(node)) - before < MOST_BYTES / 8)
  report('streams that no client reads', {
    streams: READERS,
    'of tools that flood, and were stopped': FLOODS,
    'MB more at most': Math.round((most - before) / 2 ** 20),
    'MB more afterwards': Math.round(((await held(node)) - before) / 2 ** 20),
  })
  expect(most - before).toBeLessThan(MOST_BYTES)
  expect(node.log()).not.toContain('internal_error')
})

async function run({ call }: Installation, toolId: string, key: string): Promise<unknown> {
  return (await call('POST', '/v1/tools/run', { toolId, args: { key } })).body.structured
}

function request(node: Node, toolId: string, args: object): Buffer {
  const port = Number(new URL(node.url).port)
  return rawRequest(port, { method: 'POST', path: '/v1/tools/run_stream', headers, body: { toolId, args } })
}

/** Sends the request, and never reads. */
async function unread(node: Node, toolId: string, key: string): Promise<Socket> {
  const socket = createConnection({ port: Number(new URL(node.url).port), host: '127.0.0.1' })
  socket.pause().on('error', () => {})
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  socket.write(request(node, toolId, { key }))
  return socket
}

/** Reads the rest of the stream, and returns its last events, `done` or `error`. */
async function endsOf(socket: Socket): Promise<readonly string[]> {
  const ends: string[] = []
  let rest = ''
  for await (const chunk of socket.setEncoding('latin1')) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    ends.push(...lines.filter((line) => line === 'event: done' || line === 'event: error'))
    if (chunk.endsWith('0\r\n\r\n')) break
  }
  return ends.map((line) => line.slice('event: '.length))
}

/** The kinds of all events. */
async function read(node: Node, toolId: string, args: object): Promise<readonly string[]> {
  const response = await fetch(`${node.url}/v1/tools/run_stream`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ toolId, args }),
  })
  return [...(await response.text()).matchAll(/^event: (\w+)$/gm)].map(([, kind = '']) => kind)
}

/** Bytes that the process holds in memory. */
async function held(node: Node): Promise<number> {
  const said = (await node.ask('heap?')) as { heapUsed: number; external: number } // as heap.ts says
  return said.heapUsed + said.external
}
