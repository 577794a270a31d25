// The server with which Gatepass is compared: hono on node-server, doing only the necessary work for each job. A fetch
// parses a body and answers JSON; a begin and a callback commit one row; execute signs and posts; the proxy forwards; a
// long poll waits.
import { createHmac, randomUUID } from 'node:crypto'
import { serve } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import Database from 'better-sqlite3'
import { Hono } from 'hono'
import { Pool } from 'undici'
import { releasedAnswer } from './people.ts'

const [port, databasePath = '', toolPort = '0'] = process.argv.slice(2)
const app = new Hono<{ Bindings: { outgoing: import('node:http').ServerResponse } }>()
app.get('/health', (c) => c.json({ status: 'ok' }))

app.post('/v1/auth/authorize', async (c) => {
  const body = await c.req.json<{ user_id: string }>()
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

app.get('/v1/auth/status', () => new Promise<Response>(() => {}))

const tools = new Pool(`http://127.0.0.1:${toolPort}`)
const base64url = (text: string) => Buffer.from(text).toString('base64url')
const JWT_HEAD = base64url(JSON.stringify({ alg: 'HS256', typ: 'JWT' }))

function signedToken(): string {
  const exp = Math.floor(Date.now() / 1000) + 60
  const claims = base64url(JSON.stringify({ ver: '1', iss: 'bare', aud: 'worker', jti: randomUUID(), exp }))
  const mac = createHmac('sha256', 'bench-worker-secret').update(`${JWT_HEAD}.${claims}`).digest('base64url')
  return `${JWT_HEAD}.${claims}.${mac}`
}

app.post('/v1/tools/execute', async (c) => {
  const { user_id, input } = await c.req.json<{ user_id: string; input: unknown }>()
  const { context } = releasedAnswer(user_id)
  const { body } = await tools.request({
    path: '/worker/tools/invoke',
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${signedToken()}` },
    body: JSON.stringify({
      execution_id: 'exec_1',
      tool: { name: 'Greet', toolkit: 'Bench', version: '1.0.0' },
      inputs: input,
      context: { authorization: context, user_id },
    }),
  })
  return c.json(await body.json())
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
