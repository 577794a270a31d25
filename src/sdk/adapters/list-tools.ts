import type { Tool } from '../client/tool.ts'
import { type Binding, invalidOption, isNames } from './options.ts'

/** A tool as a model gets it. */
export interface ModelTool {
  /** The name that was asked for where models take it, otherwise the one that Gatepass gives to models. */
  readonly name: string
  /** The name by which Gatepass runs it, which can have a version: models take no such name. */
  readonly runsAs: string
  readonly description: string
  /** One object, with no alternatives at its root. */
  readonly inputSchema: ObjectSchema
}

/** A JSON Schema that model APIs take as parameters. */
export interface ObjectSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, unknown>>
  readonly [keyword: string]: unknown
}

/**
 * The tools of the selection, in the order of the names. Throws `NotFound` for a name or a toolset that Gatepass does not
 * know, and `invalid_options` for two names that are one for the model.
 */
export async function listModelTools({ gatepass, tools }: Binding): Promise<ModelTool[]> {
  if (isNames(tools)) {
    const named = await Promise.all(
      [...new Set(tools)].map(async (asked) => {
        const tool = await gatepass.tools.get(asked)
        return toModelTool(tool, MODEL_NAME.test(asked) ? asked : tool.name, asked)
      }),
    )
    return refuseSharedName(named)
  }
  const { toolset, tag, q } = tools
  const selected: ModelTool[] = []
  for await (const tool of gatepass.tools.list({ toolset, tag, q })) {
    // a toolset can have an older version than the one that runs by the name
    const runsAs = toolset === undefined ? tool.name : tool.id
    selected.push(toModelTool(tool, tool.name, runsAs))
  }
  return selected
}

/** Frameworks keep tools by their names: of two versions of a tool, one would silently run for both. */
function refuseSharedName(tools: ModelTool[]): ModelTool[] {
  const seen = new Map<string, ModelTool>()
  for (const tool of tools) {
    const other = seen.get(tool.name)
    if (other !== undefined)
      throw invalidOption(
        `tools: ${other.runsAs} and ${tool.runsAs} are both ${tool.name} for the model. Give one of them.`,
      )
    seen.set(tool.name, tool)
  }
  return tools
}

/** The names that the APIs of all models take. */
const MODEL_NAME = /^[A-Za-z0-9_-]{1,64}$/

function toModelTool({ description, modelSchema }: Tool, name: string, runsAs: string): ModelTool {
  return { name, runsAs, description, inputSchema: modelSchema as ObjectSchema } // the API writes it so
}
