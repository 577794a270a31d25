import type { ClientCapabilities, ServerContext } from '@modelcontextprotocol/server'
import type { CreateMessageResult, ElicitResult, Root } from '../tools/content.ts'
import { environmentSecret } from '../tools/environment-secret.ts'
import { ContextRequiredError } from '../tools/errors.ts'
import type { ToolRun } from '../tools/run.ts'
import type { ServedApp } from '../tools/served-app.ts'
import type { ClientCapability, Round } from './rounds.ts'

/** What a tool gets besides its input. */
export interface GivenToTool extends Pick<ToolRun, 'userId' | 'authorizations' | 'metadata'> {
  /** Those that the caller sent; others come from the environment. */
  readonly secrets: Readonly<Record<string, string>>
}

/** A run of a tool for an MCP client. */
export interface McpRun {
  readonly run: ToolRun
  /** The capability that the handler used and the client does not have, if there is one. */
  lacking(): keyof ClientCapabilities | undefined
}

/** Makes the run of a tool for an MCP client. */
export function mcpRun(
  app: ServedApp,
  { mcpReq, sessionId = null }: Omit<ServerContext, 'sessionId'> & { readonly sessionId?: string | null },
  { questions, signal, can }: Round,
  { userId, authorizations, secrets, metadata }: GivenToTool,
): McpRun {
  const { progressToken } = mcpReq._meta ?? {}
  let latest = Number.NEGATIVE_INFINITY
  let lacking: ClientCapability | undefined

  function need(capability: ClientCapability, member: string): void {
    if (can(capability)) return
    lacking = capability
    throw new ContextRequiredError(
      `The tool needs ${member}, which this MCP client does not offer (${capability}).`,
    )
  }

  const run: ToolRun = {
    way: 'an MCP server',
    userId,
    sessionId,
    requestId: String(mcpReq.id),
    authorizations,
    metadata,
    secret: (key) => (Object.hasOwn(secrets, key) ? secrets[key] : environmentSecret(key)),
    signal,
    log: (level, message) => mcpReq.log(level, message),
    async progress(progress, total, message) {
      // MCP wants rising values, and a client that sent no token wants no progress
      if (progressToken === undefined || progress <= latest) return
      latest = progress
      const amounts = { ...(total !== undefined && { total }), ...(message !== undefined && { message }) }
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, ...amounts },
      })
    },
    async elicit({ message, schema, accepts, timeoutMs, key }) {
      need('elicitation', 'ui.elicit')
      const answer = await questions.ask({
        kind: 'elicitation',
        key,
        message,
        requestedSchema: schema,
        accepts,
        timeoutMs,
      })
      return answer as unknown as ElicitResult<unknown> // as `ask` has checked
    },
    async createMessage(request) {
      need('sampling', 'sampling.createMessage')
      const answer = await questions.ask({ kind: 'sampling', request: { ...request } })
      return answer as unknown as CreateMessageResult // the SDK or `ask` has checked it
    },
    async listRoots() {
      if (!can('roots')) return []
      const { roots } = await questions.ask({ kind: 'roots' })
      return roots as Root[] // as above
    },
    step: questions.step,
    listChanged: (list) => app.changed(list),
  }
  return { run, lacking: () => lacking }
}
