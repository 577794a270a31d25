import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { idText, userIdText } from '../../operations/schemas/fields.ts'
import { getWorker, syncWorker } from '../../tools/worker.ts'
import { acquisitionToWire, authorizationSchema } from '../authorizations/authorization-wire.ts'
import type { AddEndpoint } from '../endpoint/endpoint.ts'

const params = z.object({ id: idText })
const query = z.object({ user_id: userIdText, next_uri: z.string().max(2000).optional() })

/** Authorizes a worker that itself needs OAuth: an MCP server. GET is Arcade's method; POST does the same. */
export function addWorkerAuthorization(add: AddEndpoint, broker: Broker): void {
  for (const method of ['get', 'post'] as const)
    add(
      {
        operationId: method === 'post' ? 'authorizeWorker' : 'authorizeWorkerByGet',
        method,
        path: '/v1/workers/{id}/authorize',
        role: 'admin',
        tag: 'Workers',
        summary: 'Begin the authorization that an MCP server itself needs',
        description:
          'Its tools are then listed with the connection of this user; each user who calls them needs a connection of their own. If this user has a connection, the tools are read at once and the answer is `completed`.',
        params,
        query,
        responses: {
          200: {
            description: 'The status of the authorization, never with a token',
            schema: authorizationSchema,
          },
        },
      },
      ({ c, params, query, caller }) => authorize(c, broker, caller.projectId, params.id, query),
    )
}

async function authorize(
  c: Context,
  broker: Broker,
  projectId: string,
  id: string,
  { user_id: userId, next_uri: nextUri }: z.output<typeof query>,
): Promise<Response> {
  const worker = await getWorker(broker, projectId, id)
  const { authorizeMcpServer } = await import('../../tools/mcp/authorize-server.ts')
  const acquired = await authorizeMcpServer(broker, worker, {
    userId,
    ...(nextUri !== undefined && { nextUri }),
  })
  if (acquired.outcome === 'ready') await syncWorker(broker, await getWorker(broker, projectId, id))
  return c.json({ ...(await acquisitionToWire(broker, acquired)), context: {} })
}
