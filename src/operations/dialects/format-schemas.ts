import { z } from '@hono/zod-openapi'
import { loadFeatures } from '../../features/load-features.ts'
import type { TOOL_FORMATS } from '../../tools/catalogue/tool-formats.ts'
import { jsonObject, jsonSchema } from '../schemas/json-schemas.ts'
import type { AddedFormat } from './added-format.ts'
import { annotationsSchema } from './run-schemas.ts'
import { toolDefinitionSchema } from './tool-schemas.ts'

// A tool in the formats of models, of MCP, of Arcade and of features.

export const addedFormats: readonly AddedFormat[] = await loadFeatures('toolFormat')
export type CatalogueFormat = (typeof TOOL_FORMATS)[number] | 'json_schema' | 'arcade'

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

const SCHEMAS = {
  openai: openAiToolSchema,
  anthropic: anthropicToolSchema,
  mcp: mcpToolSchema,
  jsonschema: jsonSchema,
  json_schema: jsonSchema,
  arcade: toolDefinitionSchema,
} satisfies Record<CatalogueFormat, z.ZodType>
const addedSchemas = addedFormats.map(({ name, schema }) => [name, schema] as const)

export const FORMATS: readonly string[] = [...Object.keys(SCHEMAS), ...addedSchemas.map(([name]) => name)]

/** The tool in each format that the request names. */
export const formattedSchema = z.object({ ...SCHEMAS, ...Object.fromEntries(addedSchemas) }).partial()

/** The tool in the format that the request names. */
export const formattedToolSchema = z
  .union([
    openAiToolSchema,
    anthropicToolSchema,
    mcpToolSchema,
    ...addedSchemas.map(([, schema]) => schema),
    toolDefinitionSchema,
    jsonSchema,
  ])
  .openapi('FormattedTool', { description: 'In the format that `format` of the request names' })
