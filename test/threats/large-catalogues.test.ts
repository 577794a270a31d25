import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import Database from 'better-sqlite3'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { syncWorkers } from '../../src/tools/worker.ts'
import { longestHold, parsingMs } from '../event-loop.ts'
import { type Gatepass, type GatepassOptions, startGatepass } from '../gatepass.ts'
import { WORKER_SECRET } from '../http/world.ts'

// Workers with ten thousand tools, and workers whose catalogues exceed the limits.

const MANY = 10_000
const MEBIBYTE = 1024 * 1024
const open: (() => PromiseLike<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

/** Its own job, which reads all catalogues every 30 seconds, does not run: a test may take longer than that. */
async function started(options?: GatepassOptions): Promise<Gatepass> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const gatepass = await startGatepass(options)
  vi.useRealTimers()
  open.push(() => gatepass.close())
  return gatepass
}

type Answer = (response: ServerResponse, message: Record<string, unknown>) => unknown

/** A server that answers every request by its member `answer`, which tests replace. */
async function startServer(answer: Answer) {
  const state = { answer }
  const server = createServer(async (request, response) => {
    const body = await text(request)
    await state.answer(response, body === '' ? {} : JSON.parse(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(async () => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as { port: number } // it listens
  return Object.assign(state, { uri: `http://127.0.0.1:${port}` })
}

function sendJson(response: ServerResponse, body: string | Buffer): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(body)
}

function* whiteSpace(mebibytes: number): Generator<Buffer> {
  const piece = Buffer.alloc(MEBIBYTE, ' ')
  for (let i = 0; i < mebibytes; i++) yield piece
}

/** Sends the pieces as fast as the client reads them, without a Content-Length. */
async function sendPieces(
  response: ServerResponse,
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' })
  await pipeline(pieces, response).catch(() => undefined) // the client has ended it
}

const listing =
  (body: string): Answer =>
  (response) =>
    sendJson(response, body)

function httpTool(i: number, description = `Does the work of number ${i}.`): object {
  return {
    name: `Tool${i}`,
    description,
    toolkit: { name: 'Many', version: '1.0.0' },
    input: { parameters: [{ name: 'text', required: true, value_schema: { val_type: 'string' } }] },
  }
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i)
}

const http = (uri: string) => ({ uri, secret: WORKER_SECRET, timeout: 60, retry: 0 })

async function register(
  gatepass: Gatepass,
  worker: { readonly id: string } & Readonly<Record<string, unknown>>,
) {
  const { status, body } = await gatepass.call('POST', '/v1/workers', worker)
  expect(status, JSON.stringify(body)).toBe(201)
  return body
}

async function listed(gatepass: Gatepass): Promise<number> {
  return (await gatepass.call('GET', '/v1/tools?limit=1')).body.total_count
}

async function syncError(gatepass: Gatepass, id: string): Promise<string | undefined> {
  return (await gatepass.call('GET', `/v1/workers/${id}`)).body.sync_error
}

/** Counts the rows that are written from now on. */
function countWrites({ databasePath }: Gatepass): () => Record<string, number> {
  const database = new Database(databasePath)
  const tables = ['tools', 'tool_aliases']
  database.exec('create table writes (what text)')
  for (const table of tables)
    for (const verb of ['insert', 'update', 'delete'])
      database.exec(
        `create trigger count_${table}_${verb} after ${verb} on ${table} begin insert into writes values ('${verb} ${table}'); end`,
      )
  open.push(async () => database.close())
  return () => {
    const rows = database.prepare('select what, count(*) as times from writes group by what').all() as {
      what: string
      times: number
    }[]
    database.exec('delete from writes')
    return Object.fromEntries(rows.map(({ what, times }) => [what, times]))
  }
}

test('all 10,000 tools of an HTTP worker are listed, and a change of one tool writes one row', async () => {
  const gatepass = await started()
  const tools = numbers(MANY).map((i) => httpTool(i))
  const body = JSON.stringify(tools)
  const worker = await startServer(listing(body))
  // reading the tools takes many times as long as parsing them, and is not done on the event loop
  const bound = Math.max(60, 5 * parsingMs(body))
  let [held, readings] = [Number.POSITIVE_INFINITY, 0]
  // the garbage collector may hold the thread once, so the shortest of three readings counts
  while (held >= bound && readings < 3) {
    if (readings > 0) await gatepass.call('DELETE', '/v1/workers/many')
    const reading = await longestHold(async () => {
      const { sync_error } = await register(gatepass, { id: 'many', http: http(worker.uri) })
      expect(sync_error).toBeUndefined()
      expect(await listed(gatepass)).toBe(MANY)
    })
    held = Math.min(held, reading.held)
    readings++
  }
  expect(held).toBeLessThan(bound)
  const last = await gatepass.call('GET', `/v1/tools/Many.Tool${MANY - 1}`)
  expect([last.status, last.body.description]).toEqual([200, `Does the work of number ${MANY - 1}.`])

  const writes = countWrites(gatepass)
  await syncWorkers(gatepass.broker)
  expect(writes()).toEqual({})
  worker.answer = listing(JSON.stringify(tools.with(17, httpTool(17, 'Does something else.'))))
  await syncWorkers(gatepass.broker)
  expect(writes()).toEqual({ 'update tools': 1 })
  expect((await gatepass.call('GET', '/v1/tools/Many.Tool17')).body.description).toBe('Does something else.')
  worker.answer = listing(JSON.stringify(tools.slice(1)))
  await syncWorkers(gatepass.broker)
  expect(writes()).toMatchObject({ 'update tools': 1, 'delete tools': 1 })
  expect(await listed(gatepass)).toBe(MANY - 1)
  expect((await gatepass.call('GET', '/v1/tools/Many.Tool0')).status).toBe(404)
  const { items } = (await gatepass.call('GET', '/v1/admin/audit?action=worker.synced')).body
  expect(items).toHaveLength(2 + readings)
})

/** An MCP server that lists these tools in pages of that size. */
function mcpListing(tools: readonly object[], pageSize: number, form: 'json' | 'events'): Answer {
  return (response, { id, method, params }) => {
    if (id === undefined) return response.writeHead(202).end()
    const { protocolVersion, cursor } = (params ?? {}) as Record<string, string>
    const from = Number(cursor ?? 0)
    const next = from + pageSize
    const page = tools.slice(from, next)
    const results: Record<string, object> = {
      initialize: {
        protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'Many', version: '1.0.0' },
      },
      'tools/list': { tools: page, ...(next < tools.length && { nextCursor: String(next) }) },
    }
    const result = results[String(method)]
    const end = result ? { result } : { error: { code: -32601, message: 'not known' } }
    const message = JSON.stringify({ jsonrpc: '2.0', id, ...end })
    if (form === 'json') return sendJson(response, message)
    return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${message}\n\n`)
  }
}

function mcpTool(i: number, description = `Does the work of number ${i}.`): object {
  const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
  return { name: `Tool${i}`, description, inputSchema }
}

test.each([
  ['10,000 in one page', MANY, MANY, 'json'],
  ['3,000 in pages of 1,000 as events', 3_000, 1_000, 'events'],
] as const)(
  'all tools of an MCP server that lists %s are listed, and a change of one tool writes one row',
  async (_, count, pageSize, form) => {
    const gatepass = await started()
    const tools = numbers(count).map((i) => mcpTool(i))
    const server = await startServer(mcpListing(tools, pageSize, form))
    const { sync_error } = await register(gatepass, {
      id: 'many',
      mcp: { uri: `${server.uri}/mcp`, timeout: 60 },
    })
    expect(sync_error).toBeUndefined()
    expect(await listed(gatepass)).toBe(count)
    const writes = countWrites(gatepass)
    server.answer = mcpListing(tools.with(17, mcpTool(17, 'Does something else.')), pageSize, form)
    await syncWorkers(gatepass.broker)
    expect(writes()).toEqual({ 'update tools': 1 })
    server.answer = mcpListing(tools.slice(1), pageSize, form)
    await syncWorkers(gatepass.broker)
    expect(writes()).toMatchObject({ 'delete tools': 1 })
    expect(await listed(gatepass)).toBe(count - 1)
  },
)

describe('threat 41: a catalogue that is too large', () => {
  const tooMany = JSON.stringify(numbers(20_001).map(() => ({})))
  const mcpTooMany = mcpListing(
    numbers(20_001).map(() => ({})),
    5_000,
    'json',
  )
  const few = numbers(3)
  const openapiDocument = {
    openapi: '3.0.3',
    info: { title: 'Many', version: '1.0.0' },
    servers: [{ url: 'http://127.0.0.1:9' }],
    paths: Object.fromEntries(
      few.map((i) => [
        `/things/${i}`,
        { get: { operationId: `tool${i}`, responses: { 200: { description: 'ok' } } } },
      ]),
    ),
  }
  const server = (uri: string) => ({ mcp: { uri: `${uri}/mcp`, timeout: 60 } })
  /** 65 MiB of white space, without a Content-Length. */
  const endless: Answer = (response) => sendPieces(response, whiteSpace(65))
  const mcpEndless: Answer = (response, message) =>
    message.method === 'tools/list'
      ? endless(response, message)
      : mcpListing([], 1, 'json')(response, message)

  test.each<[string, (uri: string) => Record<string, unknown>, Answer, Answer, RegExp]>([
    [
      'HTTP, too many tools',
      (uri) => ({ http: http(uri) }),
      listing(JSON.stringify(few.map((i) => httpTool(i)))),
      listing(tooMany),
      /lists 20,001 tools\. At most 20,000/,
    ],
    [
      'MCP, too many tools',
      server,
      mcpListing(
        few.map((i) => mcpTool(i)),
        10,
        'json',
      ),
      mcpTooMany,
      /lists 20,001 tools\. At most 20,000/,
    ],
    [
      'HTTP, too many bytes',
      (uri) => ({ http: http(uri) }),
      listing(JSON.stringify(few.map((i) => httpTool(i)))),
      endless,
      /more than 64 MiB/,
    ],
    [
      'MCP, too many bytes',
      server,
      mcpListing(
        few.map((i) => mcpTool(i)),
        10,
        'json',
      ),
      mcpEndless,
      /more than 64 MiB/,
    ],
    [
      'OpenAPI, too many bytes',
      (uri) => ({ openapi: { url: `${uri}/openapi.json` } }),
      listing(JSON.stringify(openapiDocument)),
      endless,
      /OpenAPI document has more than 32 MiB/,
    ],
  ])(
    'is refused with the reason, and the earlier tools stay: %s',
    async (_, settings, before, after, reason) => {
      const gatepass = await started()
      const worker = await startServer(before)
      await register(gatepass, { id: 'large', ...settings(worker.uri) })
      expect(await listed(gatepass)).toBe(few.length)
      worker.answer = after
      await syncWorkers(gatepass.broker)
      expect(await syncError(gatepass, 'large')).toMatch(reason)
      expect(await listed(gatepass)).toBe(few.length)
      worker.answer = before
      await syncWorkers(gatepass.broker)
      expect(await syncError(gatepass, 'large')).toBeUndefined()
    },
  )
})

test('threat 41: several large catalogues at once are received one after another, and small ones do not wait for them', async () => {
  const gatepass = await started()
  /** More than the buffers of a connection hold. */
  const [sizeMiB, bufferedMiB] = [40, 20]
  let [current, most, ended] = [0, 0, 0]
  let hold: Promise<void> | undefined
  async function* pieces() {
    yield* whiteSpace(bufferedMiB)
    most = Math.max(most, ++current)
    try {
      await hold
      yield* whiteSpace(sizeMiB - bufferedMiB)
      yield Buffer.from('[]')
      ended++
    } finally {
      current--
    }
  }
  const hostile: Answer = (response) => sendPieces(response, pieces())
  const release = Promise.withResolvers<void>()
  hold = release.promise
  const registered: Promise<unknown>[] = []
  for (const i of numbers(5)) {
    const { uri } = await startServer(hostile)
    registered.push(register(gatepass, { id: `hostile${i}`, http: http(uri) }))
  }
  await vi.waitFor(() => expect(current).toBe(1), 300_000)
  const small = await startServer(listing(JSON.stringify([httpTool(1)])))
  await register(gatepass, { id: 'small', http: http(small.uri) })
  expect(await listed(gatepass)).toBe(1)
  expect(ended).toBe(0)
  release.resolve()
  await Promise.all(registered)
  expect([ended, most]).toEqual([5, 1])
})
