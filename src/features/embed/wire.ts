import { z } from '@hono/zod-openapi'
import { FAILURE_REASONS } from '../../domain/authorization.ts'
import type { connectionsOf } from './connect-session.ts'

const connectionSchema = z.object({ id: z.string(), provider_id: z.string() })

export const connectSessionSchema = {
  id: z.string(),
  auth_id: z.string().meta({
    description:
      'The latest authorization of the session. If existing connections covered the need, none was begun: then this is the id of the (first) connection',
  }),
  status: z.enum(['pending', 'completed', 'failed']),
  reason: z.enum(FAILURE_REASONS).openapi('FailureReason').optional(),
  message: z.string().optional(),
  connection: connectionSchema.optional().meta({ description: 'When completed' }),
  connections: z.array(connectionSchema).optional().meta({
    description:
      'When completed, if there are several: all that the user approved, or all existing ones that covered the need',
  }),
  expires_at: z.string().meta({
    description:
      'When the token expires: at this time, or 60 seconds after the end of the authorization, if that is earlier.',
  }),
}

/** The first as `connection`, and if there are several, all as `connections`. */
export function connectionsToWire(found: Awaited<ReturnType<typeof connectionsOf>>) {
  const connections = found.map(({ id, providerId }) => ({ id, provider_id: providerId }))
  const [connection] = connections
  return {
    connection,
    ...(connections.length > 1 && { connections }),
  }
}
