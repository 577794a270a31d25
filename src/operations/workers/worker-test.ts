import { z } from '@hono/zod-openapi'
import { tryWorker } from '../../tools/try-worker.ts'
import { defineOperation } from '../operation.ts'
import { newIdText } from '../schemas/fields.ts'
import { readWorkerType } from '../worker-types/registry.ts'
import { workerCreateSchema } from './worker-body.ts'

const workerTrialSchema = workerCreateSchema.extend({ id: newIdText.default('test') })

const trialSchema = z.object({
  id: z.string(),
  enabled: z.boolean(),
  healthy: z.boolean(),
  message: z.string().optional(),
  tool_count: z.number().int().optional(),
})
export type TriedWorker = z.infer<typeof trialSchema>

export const testWorker = defineOperation({
  id: 'testWorker',
  sdk: 'admin.workers.test(worker)',
  method: 'post',
  path: '/v1/workers/test',
  role: 'admin',
  tag: 'Workers',
  summary: 'Try out a worker without registering it',
  description:
    'Takes what POST /v1/workers takes. The answer for an unhealthy worker is 200 too, with the reason.',
  body: workerTrialSchema,
  answer: 'Whether it answers, and how many tools it lists',
  output: trialSchema,
  async run(broker, { body, caller: { projectId } }) {
    const { id, enabled } = body
    const { wire, block } = readWorkerType(body)
    const settings = await wire.toSettings(broker, block, projectId)
    const { toolCount, ...health } = await tryWorker(broker, projectId, {
      id,
      enabled,
      type: wire.type,
      ...settings,
    })
    return { id, enabled, ...health, tool_count: toolCount }
  },
})
