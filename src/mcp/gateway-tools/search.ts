import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Broker } from '../../broker.ts'
import { GATEWAY_TOOLS } from '../../domain/shown-tools.ts'
import type { ShownTool } from '../../tools/catalogue/shown-tools.ts'
import { createTimeBudget } from '../../tools/slices.ts'
import { answerJson, type GatewayCall, type GatewayTool } from './gateway-tool.ts'
import { rankTools } from './rank-tools.ts'

const DEFAULT_RESULTS = 10
const MAX_RESULTS = 50
/** Less exact finds are left out where tools have very large schemas. */
const MAX_CHARACTERS = 512 * 1024

/** The tool that finds tools if there are too many to list. `toJson` returns the form of a tool in `tools/list`. */
export function createSearchTool(toJson: (shown: ShownTool) => string): GatewayTool {
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
      return answerJson({ tools: await toTools(found, toJson), total, of: shown.length })
    },
  }
}

async function toTools(
  found: readonly ShownTool[],
  toJson: (shown: ShownTool) => string,
): Promise<readonly unknown[]> {
  const budget = createTimeBudget()
  const texts: string[] = []
  let left = MAX_CHARACTERS
  for (const shown of found) {
    const text = toJson(shown)
    left -= text.length
    if (left < 0 && texts.length > 0) break
    texts.push(text)
    await budget.pause()
  }
  return JSON.parse(`[${texts.join()}]`)
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
