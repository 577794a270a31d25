import { z } from '@hono/zod-openapi'
import type { Broker } from '../broker.ts'
import type { AddEndpoint } from './endpoint.ts'

const tag = 'Operation'

export function addHealth(add: AddEndpoint, broker: Broker): void {
  const isReady = () =>
    broker.store.probe().then(
      () => true,
      () => false,
    )

  add(
    {
      method: 'get',
      path: '/health',
      role: 'public',
      tag,
      summary: 'The process is alive',
      responses: { 200: { description: 'Alive', schema: z.object({ status: z.literal('ok') }) } },
    },
    ({ c }) => c.json({ status: 'ok' }),
  )
  add(
    {
      method: 'get',
      path: '/ready',
      role: 'public',
      tag,
      summary: 'The database can be written',
      responses: {
        200: { description: 'Ready', schema: z.object({ ready: z.boolean() }) },
        503: { description: 'Not ready', schema: z.object({ ready: z.boolean() }) },
      },
    },
    async ({ c }) => ((await isReady()) ? c.json({ ready: true }) : c.json({ ready: false }, 503)),
  )
  add(
    {
      method: 'get',
      path: '/v1/health',
      role: 'public',
      tag,
      summary: 'The same in Arcade’s shape',
      responses: {
        200: {
          description: 'Healthy',
          schema: z.object({ healthy: z.boolean(), reason: z.string().optional() }),
        },
        503: {
          description: 'Not healthy',
          schema: z.object({ healthy: z.boolean(), reason: z.string().optional() }),
        },
      },
    },
    async ({ c }) =>
      (await isReady())
        ? c.json({ healthy: true })
        : c.json({ healthy: false, reason: 'The database cannot be written.' }, 503),
  )
}
