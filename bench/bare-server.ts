/** What the fetch is compared with: hono on node-server, the same body parsed, the same JSON answered, nothing else. */
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { releasedAnswer } from './seed.ts'

const app = new Hono()
app.post('/v1/auth/authorize', async (c) => {
  const body = await c.req.json<{ user_id: string }>()
  return c.json(releasedAnswer(body.user_id))
})
app.get('/health', (c) => c.json({ status: 'ok' }))

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.argv[2]) })
process.on('disconnect', () => process.exit())
