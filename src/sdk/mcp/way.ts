import type { ServerContext } from '@modelcontextprotocol/server'
import type { BrokerContext } from './broker-context.ts'
import type { Round } from './rounds.ts'
import type { McpWay } from './served-app.ts'

/** What a handler is given by MCP. */
export function wayOf(
  { mcpReq, sessionId = null }: Omit<ServerContext, 'sessionId'> & { readonly sessionId?: string | null },
  { questions, signal, can }: Round,
  { userId, authorizations, secrets, metadata }: BrokerContext,
): McpWay {
  const { progressToken } = mcpReq._meta ?? {}
  let latest = Number.NEGATIVE_INFINITY
  return {
    ...questions,
    signal,
    can,
    userId,
    sessionId,
    requestId: String(mcpReq.id),
    authorizations,
    metadata,
    secret: (key) => (Object.hasOwn(secrets, key) ? secrets[key] : undefined),
    log: (level, message) => mcpReq.log(level, message),
    async progress(progress, total, message) {
      // it must rise, and nobody listens without a token
      if (progressToken === undefined || progress <= latest) return
      latest = progress
      const params = {
        progressToken,
        progress,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      }
      await mcpReq.notify({ method: 'notifications/progress', params })
    },
  }
}
