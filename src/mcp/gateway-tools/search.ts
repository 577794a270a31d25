import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Broker } from '../../broker.ts'
import { GATEWAY_TOOLS } from '../../domain/toolset.ts'
import type { ShownTool } from '../../tools/catalogue/shown-tools.ts'
import { answerJson, type GatewayCall, type GatewayTool } from './gateway-tool.ts'
import { rankTools } from './rank-tools.ts'

const DEFAULT_RESULTS = 10
const MAX_RESULTS = 50

/** The tool that finds tools if there are too many to list. `toListed` converts a tool to its form in `tools/list`. */
export function createSearchTool(
  toListed: (shown: ShownTool) => Readonly<Record<string, unknown>>,
): GatewayTool {
  return {
    name: GATEWAY_TOOLS.search,
    definition: {
      title: 'Search tools',
      description: `Finds tools by words in their names, tags and descriptions. Run one of them with ${GATEWAY_TOOLS.call}.`,
      inputSchema: {
        type: 'object',
        properties: {
          query: { type: 'string', minLength: 1, maxLength: 500, description: 'What the tool should do' },
          limit: { type: 'integer', minimum: 1, maximum: MAX_RESULTS, default: DEFAULT_RESULTS },
        },
        required: ['query'],
        additionalProperties: false,
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async call(_: Broker, { shown, input }: GatewayCall): Promise<CallToolResult> {
      const { query, limit } = input
      const most = typeof limit === 'number' ? limit : DEFAULT_RESULTS
      const { found, total } = await rankTools(shown, String(query), most)
      return answerJson({ tools: found.map(toListed), total, of: shown.length })
    },
  }
}

/** Runs a tool that the search has found. The endpoint calls the tool itself, so there is no `call` here. */
export const CALL_TOOL = {
  name: GATEWAY_TOOLS.call,
  definition: {
    title: 'Call a tool',
    description: `Runs a tool that ${GATEWAY_TOOLS.search} has found.`,
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 128, description: 'The name that the search gave' },
        arguments: { type: 'object', description: "Arguments that fit the tool's inputSchema" },
      },
      required: ['name'],
      additionalProperties: false,
    },
    annotations: { openWorldHint: true },
  },
} as const
