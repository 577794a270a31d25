/**
 * A tool worker that runs unmodified Shinkai tools: folders with a `metadata.json` and a `tool.ts` or `tool.py`. Each
 * tool runs in its own process, with what Shinkai's runtime would provide. See README.md.
 *
 * WORKER_SECRET=… node examples/shinkai-worker/worker.ts examples/shinkai-worker/tools
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { jwtVerify } from 'jose'
import { runTool, type ToolFolder } from './run-tool.ts'

const secret = new TextEncoder().encode(process.env.WORKER_SECRET ?? 'change-me')
const port = Number(process.env.PORT ?? 8501)
const TOOLKIT = { name: 'Shinkai', version: '1.0.0' }
const MAX_RUNNING = 8

const folders = process.argv.slice(2)
const tools = new Map((folders.length > 0 ? folders : ['.']).flatMap(findTools))
let running = 0

/** The folder itself if it is a tool, else the tools in it. */
function findTools(path: string): [string, ToolFolder][] {
  const folder = resolve(path)
  const inner = readdirSync(folder).map((name) => join(folder, name))
  return [folder, ...inner.filter((one) => statSync(one).isDirectory())].flatMap((one) => {
    const files = readdirSync(one)
    const code = ['tool.ts', 'tool.py'].find((name) => files.includes(name))
    if (code === undefined || !files.includes('metadata.json')) return []
    const metadata = JSON.parse(readFileSync(join(one, 'metadata.json'), 'utf8'))
    const config = files.includes('config.json')
      ? JSON.parse(readFileSync(join(one, 'config.json'), 'utf8'))
      : {}
    const name = String(metadata.name).replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
    return [[name, { folder: one, code, metadata, config }]]
  })
}

const VALUE_TYPES: Readonly<Record<string, string>> = { object: 'json', any: 'json' }

/** Lists the tool with loose types: the imported metadata has the exact schema, which Gatepass checks before a call. */
function definitionOf([name, { metadata }]: [string, ToolFolder]) {
  const { properties = {}, required = [] } = metadata.parameters ?? {}
  const parameters = Object.entries(properties).map(([key, { type, description }]) => ({
    name: key,
    required: required.includes(key),
    description: description ?? null,
    value_schema: { val_type: VALUE_TYPES[String(type)] ?? type ?? 'json' },
  }))
  return {
    name,
    fully_qualified_name: `${TOOLKIT.name}.${name}`,
    description: metadata.description ?? '',
    toolkit: TOOLKIT,
    input: { parameters },
    output: { available_modes: ['value', 'error', 'null'], value_schema: { val_type: 'json' } },
    requirements: {},
  }
}

const app = new Hono()
app.get('/worker/health', (c) => c.json({ status: 'ok', tool_count: String(tools.size) }))
app.use('/worker/tools/*', async (c, next) => {
  const token = c.req.header('authorization')?.replace(/^Bearer /, '') ?? ''
  try {
    await jwtVerify(token, secret, { audience: 'worker', algorithms: ['HS256'] })
  } catch {
    return c.json({ error: 'The worker secret does not match.' }, 401)
  }
  return next()
})
app.get('/worker/tools', (c) => c.json([...tools].map(definitionOf)))
app.post('/worker/tools/invoke', async (c) => {
  const started = performance.now()
  const { execution_id, tool: called, inputs = {}, context = {} } = await c.req.json()
  const tool = tools.get(called.name)
  if (tool === undefined) return c.json({ error: `There is no tool ${called.name}.` }, 404)
  const answer = (success: boolean, output: object) =>
    c.json({
      execution_id,
      finished_at: new Date().toISOString(),
      duration: performance.now() - started,
      success,
      output,
    })
  if (running >= MAX_RUNNING) {
    const busy = { kind: 'TOOL_RUNTIME_RETRY', message: 'Too many tools are running.', can_retry: true }
    return answer(false, { error: { ...busy, retry_after_ms: 1000 } })
  }
  running++
  try {
    const run = await runTool(tool, inputs, context, c.req.raw.signal)
    if (run.outcome === 'value') return answer(true, { value: run.value, logs: run.logs })
    const error = { kind: 'TOOL_RUNTIME_FATAL', message: run.message, can_retry: false }
    return answer(false, { error, logs: run.logs })
  } finally {
    running--
  }
})

serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () =>
  process.stdout.write(
    `${tools.size} Shinkai tools on http://127.0.0.1:${port}: ${[...tools.keys()].join(', ')}\n`,
  ),
)
