import { z } from '@hono/zod-openapi'
import { Answer } from '../../operations/answer.ts'
import { defineOperation } from '../../operations/operation.ts'
import {
  cursorPageSchema,
  cursorQuery,
  requestedPage,
  toCursorPage,
} from '../../operations/schemas/cursor-page.ts'
import { idText } from '../../operations/schemas/fields.ts'
import {
  executionDetailSchema,
  executionSchema,
  toExecution,
  toExecutionDetail,
} from '../../operations/tools/executions.ts'
import { getExecution } from '../../tools/run/get-execution.ts'
import { cancelScheduled } from './scheduled-run.ts'

export const listScheduledTools = defineOperation({
  id: 'listScheduledTools',
  method: 'get',
  path: '/v1/scheduled_tools',
  role: 'readonly',
  keysOfUsers: 'own',
  tag: 'Executions',
  summary: 'Scheduled runs, newest first',
  query: z.object(cursorQuery),
  answer: 'A page',
  output: cursorPageSchema(executionSchema),
  async run(broker, { query, caller }) {
    const { projectId, userId } = caller
    const filter = { type: 'scheduled', ...(userId !== undefined && { userId }) } as const
    const list = ['scheduled_tools', projectId, userId]
    const pageRequest = requestedPage(query, list)
    const page = await broker.store.executions.list(projectId, filter, pageRequest)
    return toCursorPage(page.items.map(toExecution), page, pageRequest, list)
  },
})

export const getScheduledTool = defineOperation({
  id: 'getScheduledTool',
  method: 'get',
  path: '/v1/scheduled_tools/{id}',
  role: 'caller',
  keysOfUsers: 'own',
  tag: 'Executions',
  summary: 'One scheduled run, and its result',
  params: z.object({ id: idText }),
  answer: 'The run',
  output: executionDetailSchema,
  run: async (broker, { params, caller }) =>
    Answer.untyped(
      toExecutionDetail(broker, await getExecution(broker, caller.projectId, params.id, 'scheduled')),
    ),
})

export const cancelScheduledTool = defineOperation({
  id: 'cancelScheduledTool',
  method: 'delete',
  path: '/v1/scheduled_tools/{id}',
  role: 'caller',
  keysOfUsers: 'own',
  tag: 'Executions',
  summary: 'Cancel a run that has not begun',
  params: z.object({ id: idText }),
  answer: 'Cancelled',
  output: executionSchema,
  run: async (broker, { params, caller }) =>
    toExecution(await cancelScheduled(broker, caller.projectId, params.id)),
})
