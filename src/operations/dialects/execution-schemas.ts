import { z } from '@hono/zod-openapi'
import { AUTHORIZATION_STATUSES } from '../../tools/tool-answer.ts'
import { ERROR_KINDS } from '../../tools/tool-error.ts'
import { jsonObject, jsonValue } from '../schemas/json-schemas.ts'

// What a run of a tool ended with: parts that several endpoints answer, and the answer of `/v1/tools/execute`.

export const duration = z.number().meta({ description: 'Milliseconds' })

export const requiredAuthorizationSchema = z
  .object({
    id: z.string().meta({ description: 'For GET /v1/auth/status' }),
    url: z.string().meta({ description: 'The link for the user' }),
    scopes: z.array(z.string()).readonly().meta({ description: 'What the user is asked to approve' }),
    status: z.enum(AUTHORIZATION_STATUSES),
  })
  .openapi('RequiredAuthorization', { description: 'The consent that the tool needs first' })

export const artifactSchema = z
  .object({
    url: z.string(),
    content_type: z.string().meta({ description: 'A media type' }),
    size: z.number().meta({ description: 'Bytes' }),
    name: z.string().optional(),
    expires_at: z
      .string()
      .optional()
      .meta({ description: 'Until when Gatepass keeps the file, which `GET /v1/files/{id}` answers' }),
    meta: z.object({ description: z.string() }),
  })
  .openapi('Artifact', { description: 'A result that is stored elsewhere' })

/** The members that errors of tools have in all forms, in Arcade's spelling. */
const errorMembers = {
  message: z.string().meta({ description: 'For users and models' }),
  can_retry: z.boolean().meta({
    description: 'Whether the same call may be repeated without doing anything twice',
  }),
  additional_prompt_content: z
    .string()
    .optional()
    .meta({ description: "To be added to a model's prompt before it tries again" }),
  retry_after_ms: z.number().optional().meta({ description: 'Milliseconds to wait before a repetition' }),
}

export const toolErrorSchema = z
  .object({
    kind: z.enum(ERROR_KINDS).openapi('ToolErrorKind'),
    ...errorMembers,
    developer_message: z.string().optional().meta({ description: 'For developers, never for a model' }),
    status_code: z
      .number()
      .int()
      .optional()
      .meta({ description: 'The HTTP status of the API that the tool called' }),
    extra: jsonObject.optional(),
    stacktrace: z.string().optional().meta({ description: 'Only if it was requested' }),
  })
  .openapi('ToolError')

/** The error in the answer of `/v1/tools/execute`, which has no `kind`. */
export const executeErrorSchema = z
  .object({
    ...errorMembers,
    developer_message: z.string().meta({
      description: 'For developers, never for a model. Begins with the kind of the error and a colon',
    }),
  })
  .openapi('ExecuteError')

export const executeOutputSchema = z
  .union([
    z.object({ value: jsonValue.nonoptional() }).meta({ description: 'The tool answered' }),
    z.object({ error: executeErrorSchema }).meta({ description: 'The tool failed, or was not run' }),
    z
      .object({ requires_authorization: requiredAuthorizationSchema })
      .meta({ description: 'The user must approve first; then the same call can be made again' }),
    z.object({ artifact: artifactSchema }).meta({ description: 'The result is stored elsewhere' }),
  ])
  .openapi('ExecuteOutput')

export const executeResultSchema = z
  .object({
    execution_id: z.string(),
    duration,
    finished_at: z.string(),
    success: z.boolean().meta({ description: 'Whether the tool produced a value or an artifact' }),
    output: executeOutputSchema.optional().meta({
      description: 'Exactly one of its members. Absent when the tool answered null, and for a scheduled run',
    }),
  })
  .openapi('ExecuteResult')
