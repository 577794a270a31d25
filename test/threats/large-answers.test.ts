import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { longestHold, parsingMs } from '../event-loop.ts'
import { repetitions } from '../faults/repetitions.ts'
import { STAINLESS, startWorld, type World } from '../http/world.ts'

// Answers of 4 MB that are as costly to read as possible, by every kind of tool and every entry point. The tests
// measure for how long the event loop is blocked, in processor time, which other processes do not lengthen.

const SIZE = 3_900_000
const percent = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('')

/** JSON of about that size. */
function hostile(shape: Shape, token: string): string {
  const fill = (item: (i: number) => string) => {
    const items: string[] = []
    for (let [i, size] = [0, 0]; size < SIZE; i++) {
      const next = item(i)
      size += next.length + 1
      items.push(next)
    }
    return items
  }
  switch (shape) {
    case 'keys that spell the token': {
      const spelled = (i: number) => [...token].map((c, bit) => ((i >> bit) & 1 ? percent(c) : c)).join('')
      return `{${fill((i) => `"${spelled(i).slice(0, 300)}":${i}`).join(',')}}`
    }
    case 'harmless keys':
      return `{"t":"${token}",${fill((i) => `"k${i.toString(36).padStart(5, '0')}":0`).join(',')}}`
    case 'as many values as can be':
      return `{"t":"${token}","list":[${fill(() => '[]').join(',')}]}`
  }
}
const SHAPES = ['keys that spell the token', 'harmless keys', 'as many values as can be'] as const
type Shape = (typeof SHAPES)[number]
const USER = 'ada'
const AT_ONCE = 4

let world: World
let token = ''
let shape: Shape = 'harmless keys'
const made = new Map<Shape, string>()

function body4MB(): string {
  const text = made.get(shape) ?? hostile(shape, token)
  made.set(shape, text)
  return text
}

/** Answers of the MCP server. The picture in the result of a call holds the token too. */
function mcpResult(method: string, protocolVersion: string): string | undefined {
  switch (method) {
    case 'initialize':
      return JSON.stringify({
        protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'pictures', version: '1.0.0' },
      })
    case 'tools/list': {
      const needs = {
        securitySchemes: { demo: { type: 'oauth2' } },
        securityRequirements: [{ demo: ['read'] }],
      }
      const tool = { description: 'Answers much.', inputSchema: { type: 'object' }, _meta: needs }
      return JSON.stringify({ tools: ['Large', 'Chats'].map((name) => ({ name, ...tool })) })
    }
    case 'tools/call': {
      const image = { type: 'image', mimeType: 'image/png', data: Buffer.from(token).toString('base64') }
      return `{"content":[${JSON.stringify(image)}],"structuredContent":${body4MB()}}`
    }
    default:
      return undefined
  }
}

/** Sends 390 kB of small events before its answer: read without a pause they would block the event loop for 0.3 s. */
function chat(id: unknown, response: ServerResponse): unknown {
  const message = (more: object) => JSON.stringify({ jsonrpc: '2.0', ...more })
  const news = `data: ${message({ method: 'notifications/message', params: { level: 'info', data: 1 } })}\n\n`
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(news.repeat(SIZE / 10 / news.length))
  return response.end(`data: ${message({ id, result: { content: [{ type: 'text', text: 'Done.' }] } })}\n\n`)
}

const close: (() => Promise<unknown> | unknown)[] = []

beforeAll(async () => {
  const raw = (text: string) => ({ raw: { status: 200, type: 'application/json', body: text } })
  const need = { id: 'demo', scopes: ['read'] }
  world = await startWorld({
    timeoutSeconds: 300,
    worker: {
      toolkit: { name: 'Arcade', version: '1.0.0' },
      tools: [
        {
          name: 'Large',
          description: 'Answers much.',
          parameters: [],
          authorization: need,
          run: async () => raw(`{"success":true,"output":{"value":${body4MB()}}}`),
        },
      ],
    },
  })
  const api = createServer(async (request, response) => {
    const answer = (body: string) => response.writeHead(200, { 'content-type': 'application/json' }).end(body)
    if (request.url !== '/mcp') return answer(body4MB())
    const { id, method, params } = JSON.parse((await text(request)) || '{}')
    if (method === 'tools/call' && params.name === 'Chats') return chat(id, response)
    const known = mcpResult(method, params?.protocolVersion)
    if (id === undefined) return response.writeHead(202).end()
    const end = known === undefined ? '"error":{"code":-32601,"message":"not known"}' : `"result":${known}`
    return answer(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${end}}`)
  })
  api.listen(0, '127.0.0.1')
  await once(api, 'listening')
  const { port } = api.address() as { port: number } // it listens
  close.push(
    () => world[Symbol.asyncDispose](),
    () => api.close(),
  )
  const origin = `http://127.0.0.1:${port}`
  const flow = { authorizationUrl: `${origin}/a`, tokenUrl: `${origin}/t`, scopes: { read: 'Read' } }
  for (const worker of [
    { id: 'mcp', mcp: { uri: `${origin}/mcp`, timeout: 300 } },
    {
      id: 'api',
      openapi: {
        namespace: 'Api',
        timeout: 300,
        document: {
          openapi: '3.1.0',
          info: { title: 'Api', version: '1' },
          servers: [{ url: origin }],
          components: { securitySchemes: { demo: { type: 'oauth2', flows: { authorizationCode: flow } } } },
          paths: {
            '/large': {
              get: {
                operationId: 'Large',
                security: [{ demo: ['read'] }],
                responses: { 200: { description: 'Much' } },
              },
            },
          },
        },
      },
    },
  ]) {
    const { status, body } = await world.call('POST', '/v1/workers', worker)
    expect([status, body.sync_error]).toEqual([201, undefined])
  }
  await world.call('PATCH', '/v1/admin/auth_providers/demo', {
    oauth2: { api: { base_url: origin, hosts: [`127.0.0.1:${port}`] } },
  })
  token = await world.connect(USER)
})
afterAll(async () => {
  for (const one of close.reverse()) await one()
})

const MOST_HELD_MS = 50
const ATTEMPTS = 4

/**
 * Measures again when the loop was blocked for too long: code that takes long does so each time, a garbage collection
 * does not.
 */
async function repeatedHold<T>(
  work: () => Promise<T>,
  mostMs = MOST_HELD_MS,
): ReturnType<typeof longestHold<T>> {
  let measured = await longestHold(work)
  for (let attempt = 1; attempt < ATTEMPTS && measured.held >= mostMs; attempt++)
    measured = await longestHold(work)
  return measured
}

/**
 * The processor time of parsing the answer, which must not happen on the event loop, in milliseconds. It is more than
 * `MOST_HELD_MS` on a machine whose processors are shared with other work, where every stretch takes longer.
 */
function parsingTime(answer: string): number {
  const ms = parsingTimes.get(answer) ?? parsingMs(answer)
  parsingTimes.set(answer, ms)
  return ms
}
const parsingTimes = new Map<string, number>()

/** All shapes by the first way, one shape by each other: all ways read and scrub the answer in the same thread. */
function shapesBy(way: string): readonly Shape[] {
  const number = WAYS.findIndex(([name]) => name === way)
  return repetitions<readonly Shape[]>({
    few: SHAPES.filter((_, i) => number === 0 || i === number % SHAPES.length),
    many: SHAPES,
  })
}

const WAYS: readonly [name: string, path: string, body?: unknown][] = [
  ['execute', '/v1/tools/execute', { tool_name: 'Arcade.Large', user_id: USER, input: {} }],
  ['run', '/v1/tools/run', { toolId: 'Arcade.Large', user_id: USER, args: {} }],
  ['run_stream', '/v1/tools/run_stream', { toolId: 'Arcade.Large', user_id: USER, args: {} }],
  ['an OpenAPI tool', '/v1/tools/execute', { tool_name: 'Api.Large', user_id: USER, input: {} }],
  ['OXP', '/oxp/tools/call', { request: { tool_id: 'Arcade.Large', input: {}, context: { user_id: USER } } }],
  ['an MCP tool', '/v1/tools/execute', { tool_name: 'pictures.Large', user_id: USER, input: {} }],
  ['a stream of an MCP tool', '/v1/tools/run_stream', { toolId: 'pictures.Large', user_id: USER, args: {} }],
  ['the proxy', '/proxy/demo/large'],
]

describe('threat 41: an answer of 4 MB', () => {
  test.each(WAYS)(
    'does not block the event loop, and holds no token, by %s',
    async (way, path, body) => {
      for (const one of shapesBy(way)) {
        shape = one
        const most = Math.max(MOST_HELD_MS, parsingTime(body4MB()))
        const ask = async () => {
          const response = await fetch(`${world.gatepass.url}${path}`, {
            method: body === undefined ? 'GET' : 'POST',
            headers: {
              authorization: `Bearer ${world.gatepass.apiKey}`,
              'content-type': 'application/json',
              ...(path.startsWith('/proxy/') && { 'x-gatepass-user': USER }),
            },
            ...(body !== undefined && { body: JSON.stringify(body) }),
          })
          return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
        }
        const { held, result } = await repeatedHold(ask, most)
        expect(
          [result.status, result.bytes.toString('utf8', 0, result.status === 200 ? 0 : 500)],
          one,
        ).toEqual([200, ''])
        expect(result.bytes.length, result.bytes.toString('utf8', 0, 700)).toBeGreaterThan(200_000)
        expect(result.bytes.includes(token), one).toBe(false)
        expect(held, one).toBeLessThan(most)
      }
    },
    1_500_000,
  )

  test('and many small events of MCP servers do not block the event loop either', async () => {
    const body = { tool_name: 'pictures.Chats', user_id: USER, input: {} }
    const call = () => world.call('POST', '/v1/tools/execute', body, { headers: STAINLESS })
    await call()
    const most = Math.max(MOST_HELD_MS, parsingTime(body4MB()))
    const { held, result } = await repeatedHold(
      () => Promise.all(Array.from({ length: AT_ONCE }, call)),
      most,
    )
    expect(result.map((one) => one.body.output.value)).toEqual(Array(AT_ONCE).fill('Done.'))
    expect(held).toBeLessThan(most)
  })
})
