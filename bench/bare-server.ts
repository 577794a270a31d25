// The server with which Gatepass is compared: hono on node-server, doing only the necessary work for each job. A fetch
// parses a body and answers JSON, and may append a durable record before; a begin and a callback commit one row; execute
// signs and posts; MCP does the same behind the SDK; the proxy forwards; a long poll waits.
import { randomUUID } from 'node:crypto'
import { serve } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { McpHttpHandler } from '@modelcontextprotocol/server'
import Database from 'better-sqlite3'
import { Hono } from 'hono'
import { Pool } from 'undici'
import { durableAppends } from './bare-records.ts'
import { callWorker, workerAt } from './bare-worker.ts'
import { releasedAnswer } from './people.ts'

const [port, databasePath = '', toolPort = '0', upstreamPort = '0', records] = process.argv.slice(2)
const app = new Hono<{ Bindings: { outgoing: import('node:http').ServerResponse } }>()
app.get('/health', (c) => c.json({ status: 'ok' }))

const append = records === 'records' ? durableAppends(`${databasePath}.records`) : undefined

app.post('/v1/auth/authorize', async (c) => {
  const body = await c.req.json<{ user_id: string }>()
  await append?.(body.user_id)
  return c.json(releasedAnswer(body.user_id))
})

app.get('/v1/connections/:id', (c) => {
  const id = c.req.param('id')
  const account = { id: 'a'.repeat(43), name: 'user@example.com' }
  const at = '2026-11-22T12:00:00Z'
  const times = { expires_at: at, created_at: at, last_used_at: at }
  return c.json({ id, user_id: account.name, provider_id: 'bench', account, status: 'active', ...times })
})

const database = new Database(databasePath)
database.pragma('journal_mode = WAL')
database.pragma('synchronous = FULL')
database.exec('create table if not exists begun (id text primary key, user_id text, state text, text text)')
const insert = database.prepare('insert into begun values (?, ?, ?, ?)')
const ROW = 'r'.repeat(600)

app.post('/begin', async (c) => {
  const body = await c.req.json<{ user_id: string }>()
  const [id, state] = [randomUUID(), randomUUID()]
  insert.run(id, body.user_id, state, ROW)
  return c.json({
    id,
    status: 'pending',
    user_id: body.user_id,
    url: `http://127.0.0.1:${port}/connect/${id}`,
  })
})

app.get('/callback', (c) => {
  const state = c.req.query('state') ?? ''
  insert.run(randomUUID(), '', state, ROW)
  return c.redirect(`http://127.0.0.1:${port}/done?status=completed`, 303)
})

/** The callback that redeems its code as well, as every callback must. */
const provider = new Pool(`http://127.0.0.1:${upstreamPort}`)
app.get('/callback/redeemed', async (c) => {
  const [state, code] = [c.req.query('state') ?? '', c.req.query('code') ?? '']
  const { body } = await provider.request({
    path: '/token',
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'authorization_code', code }).toString(),
  })
  insert.run(randomUUID(), '', state, JSON.stringify(await body.json()))
  return c.redirect(`http://127.0.0.1:${port}/done?status=completed`, 303)
})

app.get('/v1/auth/status', () => new Promise<Response>(() => {}))

const tools = workerAt(toolPort)

app.post('/v1/tools/execute', async (c) => {
  const { user_id, input } = await c.req.json<{ user_id: string; input: unknown }>()
  return c.json(await callWorker(tools, user_id, input))
})

/** The SDK is loaded by the first call, so that other jobs do without it. */
let handler: McpHttpHandler | undefined
app.post('/mcp/bench', async (c) => {
  handler ??= (await import('./bare-mcp.ts')).mcpHandler(tools)
  return handler.fetch(c.req.raw)
})

app.get('/proxy/bench/:path', async (c) => {
  const headers = { authorization: `Bearer ${c.req.header('x-gatepass-user')}` }
  const { outgoing } = c.env
  await tools.stream({ path: `/api/${c.req.param('path')}`, method: 'GET', headers }, (answer) =>
    outgoing.writeHead(answer.statusCode, answer.headers as Record<string, string>),
  )
  return RESPONSE_ALREADY_SENT
})

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(port) })
process.on('disconnect', () => process.exit())
