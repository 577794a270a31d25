import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { GATEWAY_TOOLS } from '../../domain/shown-tools.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import { findProviderByUid } from '../../flows/get-provider.ts'
import {
  type ManyRequirements,
  requirementsOfMany,
  type SharedProvider,
} from '../../tools/catalogue/requirements-of-many.ts'
import { searchTools } from '../../tools/catalogue/search-tools.ts'
import { answerJson, answerRefusal, type GatewayCall, type GatewayTool } from './gateway-tool.ts'

/** The most accounts that are listed. */
const MAX_ACCOUNTS = 100
/** The most tools that are named for each provider. */
const MAX_NAMED_TOOLS = 5

/** Tells the model which accounts its user has connected, and gives the link for those that the tools still need. */
export const CONNECTIONS_TOOL: GatewayTool = {
  name: GATEWAY_TOOLS.connections,
  definition: {
    title: 'Connected accounts',
    description:
      'Lists the accounts that the user has connected and the providers whose approval the tools here still need, with one link at which the user approves all of them. Show the link to the user; it is for them alone.',
    inputSchema: {
      type: 'object',
      properties: {
        provider: {
          type: 'string',
          maxLength: 200,
          description: 'Only this provider, by the id that this tool lists. Omit for all.',
        },
      },
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  call: answerConnections,
}

async function answerConnections(broker: Broker, call: GatewayCall): Promise<CallToolResult> {
  const { projectId, userId, input } = call
  if (userId === undefined)
    return answerRefusal(
      'This caller names no user, so there are no connected accounts. Send the header X-Gatepass-User, or use an API key of one user.',
    )
  const provider = typeof input.provider === 'string' ? input.provider : undefined
  const needing = call.shown.filter(({ tool }) => needsProvider(tool)).map(({ tool }) => tool)
  const tools = provider === undefined ? needing : await searchTools(broker, needing, { provider })
  const { required, refusal } = await requirementsWithLink(broker, projectId, tools, userId)
  const names = new Map(call.shown.map(({ name, tool }) => [tool.uid, name]))
  const connected = await connectedAccounts(broker, { projectId, userId }, required)
  const missing = [...required.providers.values()].filter(({ met }) => !met)
  return answerJson({
    connected,
    missing: missing.map((shared) => missingProvider(shared, tools, names)),
    ...(required.link && { url: required.link.url }),
    message: messageOf(missing, required, refusal),
  })
}

function needsProvider({ requirements: { authorization, alternatives = [] } }: Tool): boolean {
  return authorization.length > 0 || alternatives.some((alternative) => alternative.length > 0)
}

/** Begins one authorization for all consents that are missing. Where none can begin, `refusal` says why. */
async function requirementsWithLink(
  broker: Broker,
  projectId: string,
  tools: readonly Tool[],
  userId: string,
): Promise<{ readonly required: ManyRequirements; readonly refusal?: string }> {
  try {
    return { required: await requirementsOfMany(broker, projectId, tools, { userId, authorize: true }) }
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    return {
      required: await requirementsOfMany(broker, projectId, tools, { userId }),
      refusal: error.message,
    }
  }
}

/** The user's accounts at providers that the listed tools need. A client learns of no other account. */
async function connectedAccounts(
  broker: Broker,
  { projectId, userId }: { readonly projectId: string; readonly userId: string },
  { providers }: ManyRequirements,
) {
  const page = { offset: 0, limit: MAX_ACCOUNTS }
  const { items } = await broker.store.connections.list(projectId, { userId }, page)
  const accounts = await Promise.all(
    items.map(async ({ providerUid, account, scopes, status, isDefault }) => {
      const entry = await findProviderByUid(broker, projectId, providerUid)
      if (entry === undefined || !providers.has(entry.id)) return []
      return [{ provider: entry.id, account: account.name, scopes, status, default: isDefault }]
    }),
  )
  return accounts.flat()
}

/** Sent instead of the reason for administrators, which the model and its user cannot act on. */
const NOT_SET_UP = 'An administrator of this server must set up this provider first.'

function missingProvider(
  { id, wellKnownId, scopes, toolIds, link, statusReason }: SharedProvider,
  tools: readonly Tool[],
  names: ReadonlyMap<string, string>,
) {
  const ids = new Set(toolIds)
  const named = tools.filter((tool) => ids.has(toolId(tool))).map(({ uid }) => names.get(uid) ?? '')
  return {
    provider: id ?? wellKnownId ?? '',
    scopes,
    tools: named.slice(0, MAX_NAMED_TOOLS),
    tool_count: named.length,
    ...(link && { url: link.url }),
    ...(statusReason !== undefined && { reason: NOT_SET_UP }),
  }
}

function messageOf(
  missing: readonly SharedProvider[],
  { link }: ManyRequirements,
  refusal: string | undefined,
): string {
  if (missing.length === 0) return 'Every account that these tools need is connected.'
  if (link !== undefined)
    return `The user approves what is missing at ${link.url}. The link is for this user alone and ends soon; call this tool again for a new one.`
  return refusal ?? NOT_SET_UP
}
