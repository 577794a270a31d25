import { z } from '@hono/zod-openapi'
import { TOOL_FORMATS } from '../../tools/catalogue/tool-formats.ts'
import { jsonObject, jsonSchema } from '../schemas/json-schemas.ts'
import { annotationsSchema } from './run-schemas.ts'
import { toolDefinitionSchema } from './tool-schemas.ts'

// A tool in the formats of models, of MCP and of OXP.

/** The formats of models and MCP, OXP's tool definition and Arcade's. */
export const FORMATS = [...TOOL_FORMATS, 'json_schema', 'oxp', 'arcade'] as const
export type CatalogueFormat = (typeof FORMATS)[number]

const openAiToolSchema = z
  .object({
    type: z.literal('function'),
    function: z.object({ name: z.string(), description: z.string(), parameters: jsonSchema }),
  })
  .openapi('OpenAiTool')

const anthropicToolSchema = z
  .object({ name: z.string(), description: z.string(), input_schema: jsonSchema })
  .openapi('AnthropicTool')

const mcpToolSchema = z
  .object({
    name: z.string(),
    title: z.string(),
    description: z.string(),
    inputSchema: jsonSchema,
    outputSchema: jsonSchema.optional(),
    annotations: annotationsSchema.optional(),
    icons: z.array(jsonObject).optional(),
    _meta: jsonObject.optional(),
  })
  .openapi('McpTool')

const text = z.string()
/** OXP's ToolDefinition, which oxp-tools.ts makes. */
export const oxpToolSchema = z
  .object({
    id: text.meta({ description: '`Toolkit.Tool`, with `@x.y.z` where it has a version' }),
    name: text,
    description: text,
    version: text,
    input_schema: jsonSchema,
    output_schema: jsonSchema.nullable().meta({ description: '`null`: the tool returns nothing' }),
    requirements: z
      .object({
        authorization: z
          .array(z.object({ id: text, oauth2: z.object({ scopes: z.array(text) }) }))
          .optional(),
        secrets: z.array(z.object({ id: text })).optional(),
        user_id: z.literal(true).optional(),
      })
      .optional(),
  })
  .openapi('OxpTool')

const SCHEMAS = {
  openai: openAiToolSchema,
  anthropic: anthropicToolSchema,
  mcp: mcpToolSchema,
  jsonschema: jsonSchema,
  json_schema: jsonSchema,
  oxp: oxpToolSchema,
  arcade: toolDefinitionSchema,
} satisfies Record<CatalogueFormat, z.ZodType>

/** The tool in each format that the request names. */
export const formattedSchema = z.object(SCHEMAS).partial()

/** The tool in the format that the request names. */
export const formattedToolSchema = z
  .union([
    openAiToolSchema,
    anthropicToolSchema,
    mcpToolSchema,
    oxpToolSchema,
    toolDefinitionSchema,
    jsonSchema,
  ])
  .openapi('FormattedTool', { description: 'In the format that `format` of the request names' })
