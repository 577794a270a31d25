import { z } from '@hono/zod-openapi'
import { EXECUTION_STATUSES } from '../../domain/execution.ts'
import { RUN_OPERATIONS } from '../../tools/run/run-tool.ts'
import { errorSchema } from '../schemas/error-schema.ts'
import { jsonObject, jsonSchema, jsonValue } from '../schemas/json-schemas.ts'
import { duration, requiredAuthorizationSchema, toolErrorSchema } from './execution-schemas.ts'

// The answers of `/v1/tools/run` and `run_stream`. runs.ts makes them.

export const annotationsSchema = z
  .object({
    title: z.string().optional(),
    readOnlyHint: z.boolean().optional(),
    destructiveHint: z.boolean().optional(),
    idempotentHint: z.boolean().optional(),
    openWorldHint: z.boolean().optional(),
  })
  .openapi('ToolAnnotations', { description: "MCP's hints about what a tool does, never promises" })

const toolSchema = z
  .object({
    name: z.string(),
    namespace: z.string().optional(),
    version: z.string().optional(),
    title: z.string(),
    description: z.string(),
    inputSchema: jsonSchema,
    outputSchema: jsonSchema.optional(),
    annotations: annotationsSchema.optional(),
    _meta: jsonObject.optional(),
    icons: z.array(jsonObject).optional(),
    tags: z.array(z.string()),
  })
  .openapi('RunTool', {
    description: "The tool that was run: MCP's Tool with its namespace, version and tags",
  })

const backendSchema = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('mcp'), mcp: z.object({ serverName: z.string() }) }),
    z.object({
      kind: z.literal('provider'),
      provider: z.object({ providerId: z.string(), toolId: z.string() }),
    }),
    z.object({ kind: z.literal('local'), local: z.object({ name: z.string() }) }),
  ])
  .openapi('RunBackend', { description: 'An MCP server, another worker, or a module of the server itself' })

const mcpResultSchema = z
  .object({
    content: z.array(jsonObject).optional(),
    structuredContent: jsonValue.optional(),
    isError: z.boolean().optional(),
    _meta: jsonObject.optional(),
  })
  .catchall(jsonValue)
  .openapi('McpResult', { description: 'The CallToolResult of the MCP server that ran the tool' })

const runErrorSchema = toolErrorSchema
  .omit({ stacktrace: true })
  .extend({
    op: z.enum(RUN_OPERATIONS).meta({ description: 'In which step of the run it failed' }),
    toolId: z.string(),
  })
  .openapi('RunError')

/** What every run that has ended answers. */
const ended = {
  backend: backendSchema.optional().meta({ description: 'Absent where nothing runs the tool' }),
  executionId: z.string(),
  duration,
}
const structured = jsonValue.optional().meta({ description: 'Absent where the tool answered nothing' })
const mcpResult = mcpResultSchema.optional()
/** The members of a run that produced a value, and of one that failed. */
export const value = { ...ended, structured, mcpResult }
export const failure = { ...ended, error: runErrorSchema, mcpResult }
const consent = { ...ended, requires_authorization: requiredAuthorizationSchema }
const held = {
  ...ended,
  status: z.enum(EXECUTION_STATUSES),
  requires_authorization: requiredAuthorizationSchema.optional(),
}

const tool = { tool: toolSchema }
export const runResultSchema = z
  .union([
    z.object({ ...tool, ...failure }).openapi('RunFailed'),
    z.object({ ...tool, ...held }).openapi('RunHeld', {
      description:
        'With `when_approved`: the run waits for an approval, `requires_authorization` has the link',
    }),
    z.object({ ...tool, ...consent }).openapi('RunRequiresAuthorization'),
    z.object({ ...tool, ...value }).openapi('RunSucceeded'),
  ])
  .openapi('RunResult', {
    description: 'If there is no result, it has `error` or `requires_authorization`',
  })

const event = <Kind extends string, Data extends z.ZodType>(kind: Kind, data: Data) =>
  z.object({ kind: z.literal(kind), toolId: z.string(), data })

export const streamEventSchema = z
  .discriminatedUnion('kind', [
    event(
      'progress',
      z.object({
        progress: z.number(),
        total: z.number().optional(),
        message: z.string().optional(),
      }),
    ).openapi('ProgressEvent'),
    event('chunk', jsonValue.nonoptional()).openapi('ChunkEvent'),
    event('done', z.object(value)).openapi('DoneEvent'),
    event('error', z.union([z.object(failure), z.object(consent), errorSchema])).openapi('ErrorEvent'),
  ])
  .openapi('StreamEvent', {
    description: 'The data of one event: `progress` and `chunk` in any number, then one `done` or `error`',
  })
