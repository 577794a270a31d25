import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import { unionOfScopes } from '../domain/scopes.ts'
import { type Tool, toolId } from '../domain/tool.ts'
import { type BegunAuthorization, beginAuthorization } from '../flows/begin-authorization.ts'
import { actForTool } from '../flows/request-context.ts'
import { providerNeeds } from './tool-requirements.ts'

/** For which user, with which account, a tool is to be authorized. */
export interface ToolUse {
  readonly tool: Tool
  readonly userId?: string
  readonly account?: string
  readonly nextUri?: string
  /** Needed besides what the tool declares, at its one provider. */
  readonly moreScopes?: readonly string[]
}

/**
 * All the providers the tool needs, in one authorization. A tool that needs none is covered by nothing. Throws
 * `invalid_request` when it needs some and no user is named.
 */
export async function authorizeTool(broker: Broker, use: ToolUse): Promise<BegunAuthorization> {
  const { tool, userId, account, nextUri, moreScopes = [] } = use
  actForTool(toolId(tool))
  const declared = await providerNeeds(broker, tool)
  const providers =
    declared.length === 1
      ? declared.map((need) => ({ ...need, scopes: unionOfScopes(need.scopes, moreScopes) }))
      : declared
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
