import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { syncWorkers } from '../../src/tools/worker.ts'
import { longestHold, parsingMs } from '../event-loop.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { costlySchemas } from '../hostile-schemas.ts'
import { modern, send } from '../mcp/raw.ts'

/** As many as a list has, with the sample tool. */
const TOOLS = 127
const SIZE = 250_000
/** The tools in each answer of the server. */
const PAGE = 8

/** Begins each tool of the worker in a list. */
const MARK = '"name":"Costly_Tool'

const open: (() => PromiseLike<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

/** An MCP server that lists these tools, each of them JSON text, which tests replace. */
async function startServer(tools: readonly string[]) {
  const state = { tools }
  const server = createServer(async (request, response) => {
    const { id, method, params } = JSON.parse((await text(request)) || '{}')
    if (id === undefined) return void response.writeHead(202).end()
    const from = Number(params?.cursor ?? 0)
    const next = from + PAGE < state.tools.length ? `,"nextCursor":"${from + PAGE}"` : ''
    const info = {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'Costly', version: '1.0.0' },
    }
    const result =
      method === 'tools/list'
        ? `{"tools":[${state.tools.slice(from, from + PAGE).join()}]${next}}`
        : JSON.stringify(
            method === 'tools/call' ? { content: [], structuredContent: params.arguments } : info,
          )
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(async () => server.close())
  const { port } = server.address() as { port: number } // it listens
  return Object.assign(state, { uri: `http://127.0.0.1:${port}/mcp` })
}

/** Reads all pages of the list without parsing them. Returns the number of tools. */
async function countListed(gatepass: Gatepass): Promise<number> {
  let found = 0
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const { body, headers } = modern('tools/list', cursor === undefined ? {} : { cursor })
    const response = await send(gatepass, body, { headers })
    if (response.status !== 200) throw new Error(await response.text())
    let end = ''
    for await (const chunk of response.body ?? []) {
      const part = Buffer.from(chunk).toString('latin1')
      found += `${end.slice(-MARK.length + 1)}${part}`.split(MARK).length - 1
      end = end.slice(-500) + part.slice(-500)
    }
    cursor = /"nextCursor":"([^"]+)"/.exec(end)?.[1]
  }
  return found
}

describe('threat 25 and 41: tools whose schemas cost much', () => {
  const schemas = costlySchemas({ size: SIZE, depth: 60 })
    .map((schema) => JSON.stringify(schema))
    .filter((schema) => !schema.includes('x-mcp-header')) // such a tool of an MCP server is left out
  const toolJson = (i: number, description: string) =>
    `{"name":"Tool${i}","description":"${description}","inputSchema":{"type":"object",${schemas[i % schemas.length]?.slice(1)}}`

  test('are listed without blocking other requests, and so is a change of one of them', async () => {
    const gatepass = await startGatepass({ mode: 'development' })
    open.push(() => gatepass.close())
    const tools = Array.from({ length: TOOLS }, (_, i) => toolJson(i, 'First.'))
    const server = await startServer(tools)
    const registered = await longestHold(() =>
      gatepass.call('POST', '/v1/workers', {
        id: 'costly',
        pinning: 'record',
        mcp: { uri: server.uri, timeout: 60 },
      }),
    )
    expect(registered.result.status).toBe(201)
    const first = await longestHold(() => countListed(gatepass))
    expect(first.result).toBe(TOOLS)
    server.tools = tools.with(0, toolJson(0, 'Second.'))
    const changed = await longestHold(() => syncWorkers(gatepass.broker))
    const second = await longestHold(() => countListed(gatepass))
    expect(second.result).toBe(TOOLS)
    // garbage collection alone takes a part of this
    const most = parsingMs(`[${tools}]`) / 2
    for (const { held } of [registered, first, changed, second]) expect(held).toBeLessThan(most)
  })

  /** Schemas whose validator takes long to make or to run. */
  const unhurried: Readonly<Record<string, object>> = {
    'many schemas': {
      properties: Object.fromEntries(
        Array.from({ length: 990 }, (_, i) => [
          `p${i}`,
          { type: ['string', 'null'], pattern: 'a', maxItems: i },
        ]),
      ),
    },
    'alternatives in alternatives': {
      allOf: Array.from({ length: 900 }, (_, i) => ({ anyOf: [{ maxProperties: 50 + i }] })),
    },
    'patterns of large classes': {
      properties: Object.fromEntries(
        Array.from({ length: 18 }, (_, i) => [`p${i}`, { pattern: `(?i)${'\\pL'.repeat(190)}${i}` }]),
      ),
    },
    'patterns that repeat': {
      patternProperties: Object.fromEntries(
        Array.from({ length: 9 }, (_, i) => [`^(?:[^\\pL\\pN]{1,31}){1,${20 + i}}$`, {}]),
      ),
    },
    'names that depend on another': {
      dependentRequired: { a: Array.from({ length: 1_500 }, (_, i) => `r${i}`) },
    },
    'a value that is long': {
      properties: { list: { allOf: Array.from({ length: 15 }, () => ({ uniqueItems: true })) } },
      required: ['list'],
    },
  }
  const long = Array.from({ length: 100_000 }, (_, i) => [i])

  test('are run without blocking other requests', async () => {
    const gatepass = await startGatepass({ mode: 'development' })
    open.push(() => gatepass.close())
    const tools = Object.values(unhurried).map((schema, i) => {
      const json = JSON.stringify({ type: 'object', ...schema })
      return `{"name":"Tool${i}","description":"Costs much.","inputSchema":${json},"outputSchema":${json}}`
    })
    const server = await startServer(tools)
    const registered = await longestHold(() =>
      gatepass.call('POST', '/v1/workers', {
        id: 'costly',
        pinning: 'record',
        mcp: { uri: server.uri, timeout: 60 },
      }),
    )
    expect(registered.result.status).toBe(201)
    // about 150 ms; one of these schemas takes 300 ms on the event loop
    const most = parsingMs(`[${schemas},${schemas},${schemas}]`)
    expect(registered.held).toBeLessThan(most)
    for (const [i, [name, schema]] of Object.entries(unhurried).entries()) {
      const args = 'required' in schema ? { list: long } : {}
      const { held, result } = await longestHold(() =>
        gatepass.call('POST', '/v1/tools/run', { toolId: `costly.Tool${i}`, args }),
      )
      expect(result.status, name).toBe(200)
      expect(Object.keys(result.body), name).not.toContain('error')
      expect(held, name).toBeLessThan(most)
    }
  })
})
