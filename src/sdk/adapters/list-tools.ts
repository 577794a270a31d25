import type { Tool } from '../client/tool.ts'
import { type Binding, isNames } from './options.ts'

/** A tool as a model gets it. */
export interface ModelTool {
  /** The name that was asked for where models take it, otherwise the one that Gatepass gives to models. */
  readonly name: string
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
 * know.
 */
export async function listModelTools({ gatepass, tools }: Binding): Promise<ModelTool[]> {
  if (isNames(tools))
    return Promise.all(
      tools.map(async (asked) => {
        const tool = await gatepass.tools.get(asked)
        return toModelTool(tool, MODEL_NAME.test(asked) ? asked : tool.name)
      }),
    )
  const { toolset, tag, q } = tools
  const selected: ModelTool[] = []
  for await (const tool of gatepass.tools.list({ toolset, tag, q }))
    selected.push(toModelTool(tool, tool.name))
  return selected
}

/** The names that the APIs of all models take. */
const MODEL_NAME = /^[A-Za-z0-9_-]{1,64}$/

function toModelTool({ description, modelSchema }: Tool, name: string): ModelTool {
  return { name, description, inputSchema: modelSchema as ObjectSchema } // the API writes it so
}
