import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { PINNINGS } from '../../domain/pinned-tool.ts'
import { WORKER_TYPES, type Worker, workerStatus } from '../../domain/worker.ts'
import { acceptWaiting } from '../../tools/catalogue/acceptance.ts'
import { pinningOf } from '../../tools/catalogue/pinning.ts'
import type { RequirementStatus } from '../../tools/catalogue/requirement-context.ts'
import { requirementStatuses } from '../../tools/catalogue/tool-requirements.ts'
import {
  getWorker as get,
  registerWorker,
  deleteWorker as remove,
  updateWorker as update,
} from '../../tools/worker.ts'
import { JsonText } from '../answer.ts'
import { definitionJson } from '../dialects/arcade-tools.ts'
import { toolDefinitionSchema } from '../dialects/tool-schemas.ts'
import { defineOperation } from '../operation.ts'
import { idText } from '../schemas/fields.ts'
import { pageQuery, pageSchema, slicePage } from '../schemas/page.ts'
import { findWorkerType, readWorkerChange, readWorkerType } from '../worker-types/registry.ts'
import { acceptanceSchema, acceptanceToWire } from './worker-acceptance.ts'
import { PINNING_MEANS, WORKER_BLOCKS, workerChangeSchema, workerCreateSchema } from './worker-body.ts'

const workerSchema = z
  .object({
    id: z.string(),
    type: z.enum(WORKER_TYPES),
    enabled: z.boolean(),
    status: z.enum(['active', 'inactive', 'unreachable', 'unauthorized']).meta({
      description:
        '`inactive`: switched off. `unreachable`: its catalogue could not be read; `sync_error` says why. `unauthorized`: a user has to authorize it first',
    }),
    managed: z.boolean().meta({
      description: 'Whether the worker comes from the settings, so that the API cannot change it',
    }),
    binding: z.object({ id: z.string(), type: z.literal('project') }),
    ...WORKER_BLOCKS.answer,
    requirements: z.object({
      met: z.boolean(),
      status_reason: z.string().optional(),
      authorization: z.object({ met: z.boolean(), oauth2: z.object({ met: z.boolean() }) }).optional(),
    }),
    synced_at: z.string().optional().meta({ description: 'When its catalogue was last read' }),
    sync_error: z
      .string()
      .optional()
      .meta({ description: 'Why the catalogue could not be read the last time; Gatepass tries again' }),
    pinning: z.enum(PINNINGS).meta({ description: PINNING_MEANS }),
    acceptance: acceptanceSchema.meta({
      description: 'Which providers, scopes and secrets the tools of the worker may ask for',
    }),
  })
  .openapi('Worker')

const idParams = z.object({ id: idText })
const tag = 'Workers'

const REASONS = {
  inactive: 'It is switched off.',
  unreachable: 'Its catalogue could not be read; sync_error says why. It is tried again every half minute.',
  unauthorized: 'A user must authorize it first: POST /v1/workers/{id}/authorize.',
} as const

export const createWorker = defineOperation({
  id: 'createWorker',
  sdk: 'admin.workers.create(worker)',
  method: 'post',
  path: '/v1/workers',
  role: 'admin',
  tag,
  summary: 'Register a worker',
  description: 'Answers after its catalogue has been read once, or says in `sync_error` why it could not be.',
  body: workerCreateSchema,
  takesIdempotencyKey: true,
  status: 201,
  answer: 'Registered',
  output: workerSchema,
  async run(broker, { body, caller: { projectId } }) {
    const { id, enabled, pinning } = body
    const { wire, block } = readWorkerType(body)
    const settings = await wire.toSettings(broker, block, projectId)
    return workerToWire(
      broker,
      await registerWorker(broker, projectId, {
        ...{ id, enabled, type: wire.type, ...settings },
        ...(pinning !== undefined && { pinning }),
      }),
    )
  },
})

export const listWorkers = defineOperation({
  id: 'listWorkers',
  sdk: 'admin.workers.list()',
  method: 'get',
  path: '/v1/workers',
  role: 'readonly',
  tag,
  summary: 'All workers',
  query: z.object(pageQuery),
  answer: 'A page',
  output: pageSchema(workerSchema),
  async run(broker, { query, caller }) {
    const page = slicePage(await broker.store.workers.list(caller.projectId), query)
    const items = await Promise.all(
      page.items.map((worker) => workerToWire(broker, worker, { withDiff: false })),
    )
    return { ...page, items }
  },
})

export const getWorker = defineOperation({
  id: 'getWorker',
  sdk: 'admin.workers.get(id)',
  method: 'get',
  path: '/v1/workers/{id}',
  role: 'readonly',
  tag,
  summary: 'One worker',
  params: idParams,
  answer: 'The worker',
  output: workerSchema,
  run: async (broker, { params, caller }) =>
    await workerToWire(broker, await get(broker, caller.projectId, params.id)),
})

export const updateWorker = defineOperation({
  id: 'updateWorker',
  sdk: 'admin.workers.update(id, changes)',
  method: 'patch',
  path: '/v1/workers/{id}',
  role: 'admin',
  tag,
  summary: 'Change a worker and read its catalogue again',
  params: idParams,
  body: workerChangeSchema,
  answer: 'Changed',
  output: workerSchema,
  async run(broker, { params, body: { enabled, pinning, ...sent }, caller }) {
    const worker = await get(broker, caller.projectId, params.id)
    const changed = await update(broker, worker, async (current) => ({
      ...(enabled !== undefined && { enabled }),
      ...(pinning !== undefined && { pinning }),
      ...(await readWorkerChange(broker, sent, current)),
    }))
    return workerToWire(broker, changed)
  },
})

export const deleteWorker = defineOperation({
  id: 'deleteWorker',
  sdk: 'admin.workers.delete(id)',
  method: 'delete',
  path: '/v1/workers/{id}',
  role: 'admin',
  tag,
  summary: 'Delete a worker with its tools',
  description: 'Metadata tools that it ran are kept, without a worker.',
  params: idParams,
  answer: 'Deleted',
  async run(broker, { params, caller }) {
    await remove(broker, caller.projectId, params.id)
  },
})

export const getWorkerHealth = defineOperation({
  id: 'getWorkerHealth',
  sdk: 'admin.workers.health(id)',
  method: 'get',
  path: '/v1/workers/{id}/health',
  role: 'readonly',
  tag,
  summary: 'Whether the worker answers now',
  params: idParams,
  answer: 'Its health',
  output: z.object({
    id: z.string(),
    enabled: z.boolean(),
    healthy: z.boolean(),
    message: z.string().optional(),
  }),
  async run(broker, { params, caller }) {
    const worker = await get(broker, caller.projectId, params.id)
    const health = await broker.backends.of(worker).health(broker, worker)
    return { id: worker.id, enabled: worker.enabled, ...health }
  },
})

export const listWorkerTools = defineOperation({
  id: 'listWorkerTools',
  sdk: 'admin.workers.tools(id)',
  method: 'get',
  path: '/v1/workers/{id}/tools',
  role: 'readonly',
  tag,
  summary: 'The tools of a worker',
  params: idParams,
  query: z.object(pageQuery),
  answer: 'A page',
  output: pageSchema(toolDefinitionSchema),
  async run(broker, { params, query, caller }) {
    const worker = await get(broker, caller.projectId, params.id)
    const tools = (await broker.cache.catalogue.of(caller.projectId)).filter(
      ({ source }) => source.kind === 'worker' && source.workerUid === worker.uid,
    )
    const page = slicePage(tools, query)
    const statuses = await requirementStatuses(broker, caller.projectId, page.items)
    const items = page.items.map((tool, i) => definitionJson(tool, statuses[i] as RequirementStatus)) // one per tool
    return JsonText.page(page, items)
  },
})

export const acceptWorkerRequirements = defineOperation({
  id: 'acceptWorkerRequirements',
  sdk: 'admin.workers.accept(id)',
  method: 'post',
  path: '/v1/workers/{id}/accept',
  role: 'admin',
  tag: 'Workers',
  summary: 'Accept the new requirements, names and definitions of the tools of a worker',
  description:
    'Providers, scopes and secrets that the catalogue of a known worker names only after its registration wait until they are accepted here, and so do names that it claims for its tools: the worker has them from then on, also those that another source had. `acceptance` of GET /v1/workers/{id} shows them. With `digest`, they are accepted only if they have not changed since it was read, else 409 `not_accepted`. Definitions of tools (`acceptance.changed`) are accepted by that `digest`, with all that waits, or one by one by `tools`, with what each of them requires: so only as they were shown.',
  params: z.object({ id: idText }),
  body: z
    .strictObject({
      digest: z.string().max(100).optional(),
      tools: z
        .array(z.strictObject({ tool: z.string().max(400), to: z.string().max(100) }))
        .min(1)
        .max(1000)
        .optional()
        .meta({ description: 'Members of `acceptance.changed`, each with the digest that was shown' }),
    })
    .refine(({ digest, tools }) => digest === undefined || tools === undefined, {
      message: 'goes with no `digest`: send one of the two',
      path: ['tools'],
    }),
  bodyIsOptional: true,
  answer: 'The worker',
  output: workerSchema,
  async run(broker, { params, body, caller }) {
    const worker = await get(broker, caller.projectId, params.id)
    await acceptWaiting(broker, worker, body)
    return workerToWire(broker, await get(broker, caller.projectId, params.id))
  },
})

export async function workerToWire(
  broker: Broker,
  worker: Worker,
  { withDiff = true } = {},
): Promise<z.infer<typeof workerSchema>> {
  const { id, type, projectId, enabled, syncedAt, syncError } = worker
  const wire = findWorkerType(type)
  const isAuthorized = wire?.isAuthorized?.(worker)
  const stored = workerStatus(worker)
  const status = stored === 'unreachable' && isAuthorized === false ? 'unauthorized' : stored
  return {
    id,
    type,
    enabled,
    status,
    managed: broker.backends.of(worker).isInProcess === true,
    binding: { id: projectId, type: 'project' },
    ...(wire && { [type]: wire.toWire(broker, worker) }),
    requirements: {
      met: status === 'active' && isAuthorized !== false,
      ...(status !== 'active' && { status_reason: REASONS[status] }),
      ...(isAuthorized !== undefined && {
        authorization: { met: isAuthorized, oauth2: { met: isAuthorized } },
      }),
    },
    synced_at: toTimestamp(syncedAt),
    sync_error: syncError,
    pinning: pinningOf(broker, worker),
    acceptance: await acceptanceToWire(broker, worker, { withDiff }),
  }
}
