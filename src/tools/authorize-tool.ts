import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import type { Tool } from '../domain/tool.ts'
import { type BegunAuthorization, beginAuthorization } from '../flows/begin-authorization.ts'
import { providerNeeds } from './tool-requirements.ts'

/** For which user, with which account, a tool is to be authorized. */
export interface ToolUse {
  readonly tool: Tool
  readonly userId?: string
  readonly account?: string
  readonly nextUri?: string
}

/**
 * All the providers the tool needs, in one authorization. A tool that needs none is covered by nothing. Throws
 * `invalid_request` when it needs some and no user is named.
 */
export async function authorizeTool(broker: Broker, use: ToolUse): Promise<BegunAuthorization> {
  const { tool, userId, account, nextUri } = use
  const providers = await providerNeeds(broker, tool)
  if (providers.length === 0) return { outcome: 'covered', releases: [] }
  if (userId === undefined)
    throw new BrokerError(
      'invalid_request',
      `The tool "${tool.title}" acts for a user: say which in user_id.`,
    )
  return beginAuthorization(broker, {
    projectId: tool.projectId,
    userId,
    providers,
    requester: tool.title,
    ...(account !== undefined && { account }),
    ...(nextUri !== undefined && { nextUri }),
  })
}
