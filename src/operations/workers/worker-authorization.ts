import { z } from '@hono/zod-openapi'
import { getWorker } from '../../tools/worker.ts'
import { acquisitionToWire, authorizationSchema } from '../authorizations/authorization-wire.ts'
import { defineOperation } from '../operation.ts'
import { idText, userIdText } from '../schemas/fields.ts'

// Authorizes a worker that itself needs OAuth: an MCP server. GET is Arcade's method; POST does the same.

export const authorizeWorker = authorizeBy('post')
export const authorizeWorkerByGet = authorizeBy('get')

function authorizeBy(method: 'get' | 'post') {
  return defineOperation({
    id: method === 'post' ? 'authorizeWorker' : 'authorizeWorkerByGet',
    method,
    path: '/v1/workers/{id}/authorize',
    role: 'admin',
    tag: 'Workers',
    summary: 'Begin the authorization that an MCP server itself needs',
    description:
      'Its tools are then listed with the connection of this user; each user who calls them needs a connection of their own. If this user has a connection, the tools are read at once and the answer is `completed`.',
    params: z.object({ id: idText }),
    query: z.object({ user_id: userIdText, next_uri: z.string().max(2000).optional() }),
    answer: 'The status of the authorization, never with a token',
    output: authorizationSchema,
    async run(broker, { params: { id }, query, caller: { projectId } }) {
      const { user_id: userId, next_uri: nextUri } = query
      const worker = await getWorker(broker, projectId, id)
      const { authorizeMcpServer } = await import('../../tools/mcp/authorize-server.ts')
      const acquired = await authorizeMcpServer(broker, worker, { userId, nextUri })
      return { ...(await acquisitionToWire(broker, acquired)), context: {} }
    },
  })
}
