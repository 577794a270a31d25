import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { ENTRY_POINTS, EXECUTION_STATUSES, type ExecutionRecord } from '../../domain/execution.ts'
import { parseToolId } from '../../domain/tool-id.ts'
import { UnsealError } from '../../store/seal.ts'
import { openAttempts, openRequest } from '../../tools/run/execution-history.ts'
import { getExecution as get, historyToolId } from '../../tools/run/get-execution.ts'
import { Answer } from '../answer.ts'
import {
  artifactSchema,
  requiredAuthorizationSchema,
  toolErrorSchema,
} from '../dialects/execution-schemas.ts'
import { defineOperation } from '../operation.ts'
import { cursorPageSchema, cursorQuery, requestedPage, toCursorPage } from '../schemas/cursor-page.ts'
import { idText, toolNameText, userIdText } from '../schemas/fields.ts'
import { jsonObject, jsonValue } from '../schemas/json-schemas.ts'

export const executionSchema = z
  .object({
    id: z.string(),
    tool_id: z.string(),
    tool_name: z.string(),
    toolkit_name: z.string(),
    toolkit_version: z.string().optional(),
    user_id: z.string().optional(),
    execution_type: z.enum(['immediate', 'scheduled']),
    execution_status: z.enum(EXECUTION_STATUSES),
    entry_point: z.enum(ENTRY_POINTS).meta({ description: 'The endpoint that ran it' }),
    outcome: z.enum(['value', 'artifact', 'error', 'requires_authorization']).optional(),
    error_kind: z.string().optional().meta({ description: 'The kind of a ToolError' }),
    duration: z.number().optional().meta({ description: 'Milliseconds' }),
    run_at: z.string().optional(),
    approval_id: z
      .string()
      .optional()
      .meta({ description: 'The approval for which a scheduled run waits or has waited' }),
    created_at: z.string(),
    updated_at: z.string(),
    started_at: z.string().optional(),
    finished_at: z.string().optional(),
    api_key_id: z.string().optional(),
  })
  .openapi('ToolExecution')

/** Exactly one of `value`, `error`, `authorization` and `artifact`. */
const attemptOutputSchema = z
  .object({
    value: jsonValue.optional(),
    error: toolErrorSchema.optional(),
    authorization: requiredAuthorizationSchema
      .extend({ user_id: z.string(), provider_id: z.string().optional(), context: z.object({}) })
      .optional(),
    artifact: artifactSchema.optional(),
    logs: z
      .array(z.object({ level: z.string(), message: z.string(), subtype: z.string().optional() }))
      .optional(),
  })
  .openapi('AttemptOutput')

const attemptSchema = z.object({
  id: z.string(),
  started_at: z.string(),
  finished_at: z.string(),
  success: z.boolean(),
  output: attemptOutputSchema.optional(),
  system_error_message: z.string().optional(),
})

export const executionDetailSchema = executionSchema
  .extend({
    input: jsonObject.optional(),
    attempts: z.array(attemptSchema).optional(),
    unreadable: z
      .array(z.enum(['input', 'attempts']))
      .optional()
      .meta({
        description: 'Members that the answer leaves out, because they were altered in the database',
      }),
  })
  .openapi('ToolExecutionDetail')

const idParams = z.object({ id: idText })
const tag = 'Executions'

const UNREADABLE = Symbol('unreadable')

export const listExecutions = defineOperation({
  id: 'listExecutions',
  method: 'get',
  path: '/v1/executions',
  role: 'readonly',
  keysOfUsers: 'user_id',
  tag,
  summary: 'The history of runs, newest first',
  description:
    'Kept for 30 days. The list has no inputs and outputs. Runs of other processes appear within a second.',
  query: z.object({
    user_id: userIdText.optional(),
    tool: toolNameText
      .optional()
      .meta({ description: 'A tool by any of its names, or the id of a deleted tool' }),
    type: z.enum(['immediate', 'scheduled']).optional(),
    status: z.enum(EXECUTION_STATUSES).optional(),
    ...cursorQuery,
  }),
  answer: 'A page',
  output: cursorPageSchema(executionSchema),
  async run(broker, { query, caller: { projectId } }) {
    await broker.history.flush().catch(() => {})
    const { user_id: userId, tool, type, status } = query
    const filter = {
      ...(userId !== undefined && { userId }),
      ...(tool !== undefined && { toolId: await historyToolId(broker, projectId, tool) }),
      ...(type !== undefined && { type }),
      ...(status !== undefined && { status }),
    }
    const list = ['executions', projectId, userId, filter.toolId, type, status]
    const pageRequest = requestedPage(query, list)
    const page = await broker.store.executions.list(projectId, filter, pageRequest)
    return toCursorPage(page.items.map(toExecution), page, pageRequest, list)
  },
})

export const getExecution = defineOperation({
  id: 'getExecution',
  method: 'get',
  path: '/v1/executions/{id}',
  role: 'caller',
  keysOfUsers: 'own',
  tag,
  summary: 'One run',
  description: 'With `input` and `attempts` where they were kept (`keep_content`, and scheduled runs).',
  params: idParams,
  answer: 'The run',
  output: executionDetailSchema,
  run: async (broker, { params, caller }) =>
    Answer.untyped(toExecutionDetail(broker, await get(broker, caller.projectId, params.id))),
})

export function toExecution(
  record: Omit<ExecutionRecord, 'request' | 'result'>,
): z.infer<typeof executionSchema> {
  const { id, toolId: tool, userId, type, status, entryPoint, outcome, errorKind, apiKeyId } = record
  const { durationMs, runAt, approvalId, createdAt, updatedAt, startedAt, finishedAt } = record
  const { name, namespace, version } = parseToolId(tool)
  return {
    id,
    tool_id: tool,
    tool_name: name,
    toolkit_name: namespace,
    toolkit_version: version,
    user_id: userId,
    execution_type: type,
    execution_status: status,
    entry_point: entryPoint,
    outcome,
    error_kind: errorKind,
    duration: durationMs,
    run_at: toTimestamp(runAt),
    approval_id: approvalId,
    created_at: toTimestamp(createdAt),
    updated_at: toTimestamp(updatedAt),
    started_at: toTimestamp(startedAt),
    finished_at: toTimestamp(finishedAt),
    api_key_id: apiKeyId,
  }
}

export function toExecutionDetail(
  broker: Broker,
  record: ExecutionRecord,
): Omit<z.infer<typeof executionDetailSchema>, 'attempts'> & { attempts?: unknown[] } {
  const request = readableOr(() => openRequest(broker, record))
  const input = request === UNREADABLE ? undefined : request?.input
  const result = readableOr(() => openAttempts(broker, record))
  const attempts = result === UNREADABLE ? [] : result
  const unreadable = [
    ...(request === UNREADABLE ? (['input'] as const) : []),
    ...(result === UNREADABLE ? (['attempts'] as const) : []),
  ]
  return {
    ...toExecution(record),
    ...(input !== undefined && { input: { ...input } }),
    ...(unreadable.length > 0 && { unreadable }),
    ...((attempts.length > 0 || (record.type === 'scheduled' && result !== UNREADABLE)) && {
      attempts: attempts.map(({ id, startedAt, finishedAt, success, output, systemErrorMessage }) => ({
        id,
        started_at: toTimestamp(startedAt),
        finished_at: toTimestamp(finishedAt),
        success,
        output,
        system_error_message: systemErrorMessage,
      })),
    }),
  }
}

/** Returns `UNREADABLE` for a part that was altered in the database, so that the rest of the record can be shown. */
function readableOr<T>(open: () => T): T | typeof UNREADABLE {
  try {
    return open()
  } catch (error) {
    if (error instanceof UnsealError) return UNREADABLE
    throw error
  }
}
