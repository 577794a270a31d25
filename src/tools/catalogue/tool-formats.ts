import { functionName, type JsonSchema, type Tool } from '../../domain/tool.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { INFERRABLE } from '../../sdk/worker/value-schema.ts'

export const TOOL_FORMATS = ['openai', 'anthropic', 'mcp', 'jsonschema'] as const
export type ToolFormat = (typeof TOOL_FORMATS)[number]

/** The tool in the format of a model's API, under the name that `modelNames` gives it. */
export function formatTool(
  tool: Tool,
  format: ToolFormat,
  name = functionName(tool),
): Record<string, unknown> {
  const { description, title } = tool
  switch (format) {
    case 'openai':
      return { type: 'function', function: { name, description, parameters: modelSchema(tool.inputSchema) } }
    case 'anthropic':
      return { name, description, input_schema: modelSchema(tool.inputSchema) }
    case 'mcp': {
      const { outputSchema, annotations, meta, icons } = tool
      return {
        name,
        title,
        description,
        inputSchema: plainSchema(tool.inputSchema),
        ...(outputSchema?.type === 'object' && { outputSchema }),
        ...(annotations && { annotations }),
        ...(icons && { icons }),
        ...(meta && { _meta: meta }),
      }
    }
    case 'jsonschema': {
      // many schemas have a title of their own, which is not the tool's name
      const { title: _, description: __, ...schema } = plainSchema(tool.inputSchema)
      return { $schema: DIALECT, title: name, description, ...schema }
    }
  }
}

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/** MCP's Tool with `namespace`, `version` and `tags`, which results of runs contain. */
export function toModelTool(tool: Tool): Record<string, unknown> {
  const { name, namespace, version, title, description, outputSchema, annotations, meta, icons, tags } = tool
  return {
    name,
    ...(namespace !== '' && { namespace }),
    version,
    title,
    description,
    inputSchema: plainSchema(tool.inputSchema),
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
    ...(meta && { _meta: meta }),
    ...(icons && { icons }),
    tags,
  }
}

/** Model APIs refuse these keywords beside `type: "object"`. Without them the schema accepts more. */
const NOT_AT_THE_TOP = [
  ...['$schema', '$id', 'allOf', 'anyOf', 'oneOf', 'not', 'enum', 'const', 'if', 'then', 'else'],
  ...['dependentSchemas', 'unevaluatedProperties'],
]

/** The input schema as model APIs accept it. If it lists all properties, others are forbidden; one without properties accepts any. */
function modelSchema(inputSchema: JsonSchema): JsonRecord {
  const members = Object.entries(inputSchema)
  const kept = members.filter(([name]) => !NOT_AT_THE_TOP.includes(name))
  const isWhole =
    kept.length === members.length && !['patternProperties', '$ref'].some((name) => name in inputSchema)
  const { properties } = plainSchema(inputSchema)
  return {
    ...(isWhole && Object.keys(properties).length > 0 && { additionalProperties: false }),
    ...Object.fromEntries(kept),
    type: 'object',
    properties,
  }
}

/** The schema without the keyword that marks Arcade's inferrable parameters. */
function plainSchema(inputSchema: JsonSchema): JsonRecord & { readonly properties: JsonRecord } {
  const properties = isRecord(inputSchema.properties) ? Object.entries(inputSchema.properties) : []
  return {
    ...inputSchema,
    type: 'object',
    properties: Object.fromEntries(properties.map(([name, schema]) => [name, withoutMark(schema)])),
  }
}

function withoutMark(schema: unknown): unknown {
  if (!isRecord(schema) || schema[INFERRABLE] === undefined) return schema
  const { [INFERRABLE]: _, ...plain } = schema
  return plain
}
