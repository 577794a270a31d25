import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { errors, jwtVerify } from 'jose'
import { z } from 'zod'
import { type Clock, toTimestamp } from '../domain/clock.ts'
import { PROFILE_TOOL, profileToolDefinition, runProfileTool } from './profile-tool.ts'

interface SandboxWorkerOptions {
  /** The HS256 key shared with the broker. */
  readonly secret: string
  readonly now: Clock
  /** The API that the tool calls, in process. */
  readonly api: Hono
}

/** The members of a call that the sample tool needs. */
const toolCall = z.object({
  execution_id: z.string().default('sandbox'),
  tool: z.object({ name: z.string(), toolkit: z.string() }),
  inputs: z.record(z.string(), z.unknown()).nullish(),
  context: z.object({ authorization: z.object({ token: z.string().nullish() }).nullish() }).nullish(),
})

/** A tool worker with one tool, in Arcade's worker protocol. Paths are below `/worker`. */
export function sandboxWorker({ secret, now, api }: SandboxWorkerOptions): Hono {
  const key = new TextEncoder().encode(secret)
  const requireWorkerToken = createMiddleware(async (c, next) => {
    const token = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? ''
    if (!(await isWorkerToken(token, key, now)))
      return c.json({ error: 'The worker token is not valid.' }, 401)
    return next()
  })

  return new Hono()
    .get('/health', (c) => c.json({ status: 'ok', tool_count: '1' }))
    .get('/tools', requireWorkerToken, (c) => c.json([profileToolDefinition()]))
    .post('/tools/invoke', requireWorkerToken, async (c) => {
      const call = toolCall.safeParse(await c.req.json().catch(() => undefined))
      if (!call.success) return c.json({ error: 'The body is not a tool call.' }, 400)
      const { execution_id, tool, inputs, context } = call.data
      if (tool.toolkit !== PROFILE_TOOL.toolkit || tool.name !== PROFILE_TOOL.name)
        return c.json({ error: 'There is no such tool here.' }, 404)
      const startedAt = performance.now()
      const output = await runProfileTool(api, inputs?.greeting, context?.authorization?.token ?? undefined)
      return c.json({
        execution_id,
        finished_at: toTimestamp(now()),
        duration: Math.round(performance.now() - startedAt),
        success: !('error' in output),
        output,
      })
    })
}

/** Whether the broker signed the token for its calls to this worker. */
async function isWorkerToken(token: string, key: Uint8Array, now: Clock): Promise<boolean> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: ['HS256'],
      audience: 'worker',
      currentDate: new Date(now() * 1000),
    })
    return payload.ver === '1'
  } catch (error) {
    if (error instanceof errors.JOSEError) return false
    throw error
  }
}
