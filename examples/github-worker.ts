/**
 * A tool worker in one file, as a tool author writes it. Gatepass calls it with the user's token in
 * `context.authorization.token`; the tool itself never handles authorization.
 *
 * WORKER_SECRET=… node examples/github-worker.ts
 */
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { jwtVerify } from 'jose'

const secret = new TextEncoder().encode(process.env.WORKER_SECRET ?? 'change-me')
const port = Number(process.env.PORT ?? 8500)
const api = process.env.GITHUB_API ?? 'https://api.github.com'

const repositories = {
  name: 'Repositories',
  fully_qualified_name: 'Github.Repositories',
  description: 'Lists the user’s repositories, most recently pushed first.',
  toolkit: { name: 'Github', version: '1.0.0' },
  input: { parameters: [{ name: 'count', required: false, value_schema: { val_type: 'integer' } }] },
  output: { available_modes: ['value', 'error'], value_schema: { val_type: 'json' } },
  requirements: {
    authorization: { id: 'github', provider_type: 'oauth2', oauth2: { scopes: ['read:user'] } },
  },
}

const app = new Hono()
app.get('/worker/health', (c) => c.json({ status: 'ok', tool_count: '1' }))
app.use('/worker/tools/*', async (c, next) => {
  const token = c.req.header('authorization')?.replace(/^Bearer /, '') ?? ''
  try {
    await jwtVerify(token, secret, { audience: 'worker', algorithms: ['HS256'] })
  } catch {
    return c.json({ error: 'The worker secret does not match.' }, 401)
  }
  return next()
})
app.get('/worker/tools', (c) => c.json([repositories]))
app.post('/worker/tools/invoke', async (c) => {
  const started = Date.now()
  const { execution_id: id, inputs = {}, context } = await c.req.json()
  const response = await fetch(`${api}/user/repos?sort=pushed&per_page=${inputs.count ?? 10}`, {
    headers: { authorization: `Bearer ${context.authorization.token}`, 'user-agent': 'gatepass-example' },
  })
  const found: { full_name: string }[] = response.ok ? await response.json() : []
  return c.json({
    execution_id: id,
    finished_at: new Date().toISOString(),
    duration: Date.now() - started,
    success: response.ok,
    output: response.ok
      ? { value: { repositories: found.map((one) => one.full_name) } }
      : {
          error: {
            kind: 'UPSTREAM_RUNTIME_UNMAPPED',
            message: `GitHub answered ${response.status}.`,
            can_retry: false,
          },
        },
  })
})

serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () =>
  console.log(`The worker listens on http://127.0.0.1:${port}`),
)
