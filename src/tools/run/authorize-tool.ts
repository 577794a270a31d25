import type { Broker } from '../../broker.ts'
import { invalidMember } from '../../domain/errors.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import { acquireTokens, type TokenAcquisition } from '../../flows/acquire-tokens.ts'
import { actForTool } from '../../services/request-context.ts'
import type { AskedAuthorization } from '../tool-answer.ts'
import { type ToolNeed, toolNeeds } from './tool-needs.ts'

/** For which user, with which account, a tool is to be authorized. */
export interface ToolUse {
  readonly tool: Tool
  readonly userId?: string
  readonly account?: string
  /** In place of `account`, at the provider entries of these ids. */
  readonly accounts?: Readonly<Record<string, string>>
  readonly nextUri?: string
  /** What the tool has asked for besides what it declares. */
  readonly asked?: AskedAuthorization
}

/**
 * All the providers the tool needs, in one authorization; where the user has consented to all, a token for each, in the order of the needs.
 * A tool that needs no provider gets no token. Throws `invalid_request` when it needs some and no user is named.
 */
export async function authorizeTool(
  broker: Broker,
  use: ToolUse,
  known?: readonly ToolNeed[],
): Promise<TokenAcquisition<ToolNeed>> {
  const { tool, userId, account, nextUri } = use
  actForTool(toolId(tool))
  const needs = known ?? (await toolNeeds(broker, tool, use))
  if (needs.length === 0) return { outcome: 'ready', tokens: [] }
  if (userId === undefined)
    throw invalidMember(
      'user_id',
      'missing',
      `The tool "${tool.title}" acts for a user: say which in user_id.`,
    )
  return acquireTokens(broker, {
    projectId: tool.projectId,
    userId,
    providers: needs,
    requester: tool.title,
    ...(account !== undefined && { account }),
    ...(nextUri !== undefined && { nextUri }),
  })
}
