import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import type { Worker } from '../../domain/worker.ts'
import { backendOf } from '../../tools/backends.ts'
import { readBounded } from '../../tools/catalogue/read-bounded.ts'
import { newWorker } from '../../tools/worker.ts'
import { WorkerFault } from '../../tools/worker-fault.ts'
import { defineOperation } from '../operation.ts'
import { newIdText } from '../schemas/fields.ts'
import { readWorkerType } from '../worker-types/registry.ts'
import { WORKER_BLOCKS } from './worker-body.ts'

const workerTrialSchema = z.object({
  id: newIdText.default('test'),
  type: z.string().nullish(),
  enabled: z.boolean().default(true),
  ...WORKER_BLOCKS.create,
})

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
    const sent = await wire.toSettings(broker, block, projectId)
    const worker = newWorker(broker, projectId, { id, enabled, type: wire.type, ...sent })
    return { id, enabled, ...(await healthAndToolCount(broker, worker)) }
  },
})

async function healthAndToolCount(broker: Broker, worker: Worker) {
  const backend = backendOf(worker)
  const health = await backend.health(broker, worker)
  // a healthy worker with a message needs an authorization, which only a registered worker can get
  if (!health.healthy || health.message !== undefined) return health
  try {
    const listed = await readBounded(worker, (bounds) => backend.catalogue(broker, worker, bounds))
    // `unchanged` does not occur, because nothing was read before
    const items = listed === 'unchanged' ? [] : listed.items
    return { ...health, tool_count: items.filter(({ outcome }) => outcome === 'read').length }
  } catch (error) {
    if (!(error instanceof WorkerFault)) throw error
    return { healthy: false, message: error.message }
  } finally {
    await deleteAddedProvider(broker, worker)
  }
}

/** Deletes the provider entry that the test of an MCP server with OAuth has added. */
async function deleteAddedProvider({ store, audit }: Broker, { uid, projectId }: Worker): Promise<void> {
  for (const { id, externalId } of await store.providers.list(projectId))
    if (externalId === uid)
      await store.providers.delete(
        projectId,
        id,
        audit.of(projectId, { action: 'provider.deleted', providerId: id }),
      )
}
