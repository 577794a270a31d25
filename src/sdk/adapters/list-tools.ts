import type { Tool } from '../client/tool.ts'
import { type Binding, isNames } from './options.ts'

/** A tool as a model gets it. */
export interface ModelTool {
  /** Letters, digits, `_` and `-`; every way of running tools takes it. */
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
    return Promise.all(tools.map(async (name) => toModelTool(await gatepass.tools.get(name))))
  const { toolset, tag, q } = tools
  const selected: ModelTool[] = []
  for await (const tool of gatepass.tools.list({ toolset, tag, q })) selected.push(toModelTool(tool))
  return selected
}

function toModelTool({ name, description, modelSchema }: Tool): ModelTool {
  return { name, description, inputSchema: modelSchema as ObjectSchema } // the API writes it so
}
