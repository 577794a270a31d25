import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { BrokerError } from '../../domain/errors.ts'
import { WORKER_TYPES, type Worker, workerStatus } from '../../domain/worker.ts'
import { definitionJson } from '../../operations/dialects/arcade-tools.ts'
import { toolDefinitionSchema } from '../../operations/dialects/tool-schemas.ts'
import { idText, newIdText } from '../../operations/schemas/fields.ts'
import { pageQuery, pageSchema, slicePage } from '../../operations/schemas/page.ts'
import { findWorkerType, readWorkerType, WORKER_TYPE_WIRES } from '../../operations/worker-types/registry.ts'
import { backendOf } from '../../tools/backends.ts'
import type { RequirementStatus } from '../../tools/catalogue/requirement-context.ts'
import { requirementStatuses } from '../../tools/catalogue/tool-requirements.ts'
import { getWorker, registerWorker, updateWorker } from '../../tools/worker.ts'
import type { AddEndpoint } from '../endpoint/endpoint.ts'
import { sendPage } from '../endpoint/send-json.ts'
import { acceptanceSchema, acceptanceToWire, addWorkerAcceptance } from './worker-acceptance.ts'

const PARTS = { create: 'Registration', change: 'Change', answer: 'Settings' } as const

/** The members of a worker that have the names of the types. */
export const WORKER_BLOCKS = {
  create: workerBlocks('create'),
  change: workerBlocks('change'),
  answer: workerBlocks('answer'),
}

function workerBlocks(part: keyof typeof PARTS) {
  return Object.fromEntries(
    WORKER_TYPE_WIRES.map((wire) => {
      const name = `${wire.type.charAt(0).toUpperCase()}${wire.type.slice(1)}Worker${PARTS[part]}`
      return [wire.type, wire[part].openapi(name).optional()]
    }),
  )
}

const workerSchema = z
  .object({
    id: z.string(),
    type: z.enum(WORKER_TYPES),
    enabled: z.boolean(),
    status: z.enum(['active', 'inactive', 'unreachable', 'unauthorized']).openapi({
      description:
        '`inactive`: switched off. `unreachable`: its catalogue could not be read; `sync_error` says why. `unauthorized`: a user has to authorize it first',
    }),
    managed: z.boolean().openapi({
      description: 'Whether the worker comes from the settings, so that the API cannot change it',
    }),
    binding: z.object({ id: z.string(), type: z.literal('project') }),
    ...WORKER_BLOCKS.answer,
    requirements: z.object({
      met: z.boolean(),
      status_reason: z.string().optional(),
      authorization: z.object({ met: z.boolean(), oauth2: z.object({ met: z.boolean() }) }).optional(),
    }),
    synced_at: z.string().optional().openapi({ description: 'When its catalogue was last read' }),
    sync_error: z
      .string()
      .optional()
      .openapi({ description: 'Why the catalogue could not be read the last time; Gatepass tries again' }),
    acceptance: acceptanceSchema.openapi({
      description: 'Which providers, scopes and secrets the tools of the worker may ask for',
    }),
  })
  .openapi('Worker')

export const workerCreateSchema = z.object({
  id: newIdText,
  type: z.string().nullish(),
  enabled: z.boolean().default(true),
  ...WORKER_BLOCKS.create,
})

export const workerChangeSchema = z.object({
  enabled: z.boolean().optional(),
  ...WORKER_BLOCKS.change,
})

const idParams = z.object({ id: idText })
const tag = 'Workers'

/** Workers: the servers that list tools and run them. */
export function addWorkers(add: AddEndpoint, broker: Broker): void {
  addWorkerAcceptance(add, broker, { schema: workerSchema, toWire: (worker) => workerToWire(broker, worker) })
  add(
    {
      operationId: 'createWorker',
      method: 'post',
      path: '/v1/workers',
      role: 'admin',
      tag,
      summary: 'Register a worker',
      description:
        'Answers after its catalogue has been read once, or says in `sync_error` why it could not be.',
      body: workerCreateSchema,
      takesIdempotencyKey: true,
      responses: { 201: { description: 'Registered', schema: workerSchema } },
    },
    async ({ c, body, caller }) =>
      c.json(await workerToWire(broker, await createWorker(broker, caller.projectId, body)), 201),
  )

  add(
    {
      operationId: 'listWorkers',
      method: 'get',
      path: '/v1/workers',
      role: 'readonly',
      tag,
      summary: 'All workers',
      query: z.object(pageQuery),
      responses: { 200: { description: 'A page', schema: pageSchema(workerSchema) } },
    },
    async ({ c, query, caller }) => {
      const page = slicePage(await broker.store.workers.list(caller.projectId), query)
      const items = await Promise.all(page.items.map((worker) => workerToWire(broker, worker)))
      return c.json({ ...page, items })
    },
  )

  add(
    {
      operationId: 'getWorker',
      method: 'get',
      path: '/v1/workers/{id}',
      role: 'readonly',
      tag,
      summary: 'One worker',
      params: idParams,
      responses: { 200: { description: 'The worker', schema: workerSchema } },
    },
    async ({ c, params, caller }) =>
      c.json(await workerToWire(broker, await getWorker(broker, caller.projectId, params.id))),
  )

  add(
    {
      operationId: 'updateWorker',
      method: 'patch',
      path: '/v1/workers/{id}',
      role: 'admin',
      tag,
      summary: 'Change a worker and read its catalogue again',
      params: idParams,
      body: workerChangeSchema,
      responses: { 200: { description: 'Changed', schema: workerSchema } },
    },
    async ({ c, params, body, caller }) =>
      c.json(await workerToWire(broker, await changeWorker(broker, caller.projectId, params.id, body))),
  )

  add(
    {
      operationId: 'deleteWorker',
      method: 'delete',
      path: '/v1/workers/{id}',
      role: 'admin',
      tag,
      summary: 'Delete a worker with its tools',
      description: 'Metadata tools that it ran are kept, without a worker.',
      params: idParams,
      responses: { 204: { description: 'Deleted' } },
    },
    async ({ c, params, caller }) => {
      await deleteWorker(broker, caller.projectId, params.id)
      return c.body(null, 204)
    },
  )

  add(
    {
      operationId: 'getWorkerHealth',
      method: 'get',
      path: '/v1/workers/{id}/health',
      role: 'readonly',
      tag,
      summary: 'Whether the worker answers now',
      params: idParams,
      responses: {
        200: {
          description: 'Its health',
          schema: z.object({
            id: z.string(),
            enabled: z.boolean(),
            healthy: z.boolean(),
            message: z.string().optional(),
          }),
        },
      },
    },
    async ({ c, params, caller }) => {
      const worker = await getWorker(broker, caller.projectId, params.id)
      const health = await backendOf(worker).health(broker, worker)
      return c.json({ id: worker.id, enabled: worker.enabled, ...health })
    },
  )

  add(
    {
      operationId: 'listWorkerTools',
      method: 'get',
      path: '/v1/workers/{id}/tools',
      role: 'readonly',
      tag,
      summary: 'The tools of a worker',
      params: idParams,
      query: z.object(pageQuery),
      responses: { 200: { description: 'A page', schema: pageSchema(toolDefinitionSchema) } },
    },
    async ({ c, params, query, caller }) => {
      const worker = await getWorker(broker, caller.projectId, params.id)
      const tools = (await broker.cache.catalogue.of(caller.projectId)).filter(
        ({ source }) => source.kind === 'worker' && source.workerUid === worker.uid,
      )
      const page = slicePage(tools, query)
      const statuses = await requirementStatuses(broker, caller.projectId, page.items)
      const items = page.items.map((tool, i) => definitionJson(tool, statuses[i] as RequirementStatus)) // one per tool
      return sendPage(c, page, items)
    },
  )
}

/** Registers the worker of a body and reads its catalogue once. Throws `already_exists`, `invalid_request`. */
export async function createWorker(
  broker: Broker,
  projectId: string,
  body: z.output<typeof workerCreateSchema>,
): Promise<Worker> {
  const { id, enabled } = body
  const { wire, block } = readWorkerType(body)
  const settings = await wire.toSettings(broker, block, projectId)
  return registerWorker(broker, projectId, { id, enabled, type: wire.type, ...settings })
}

/** Changes the members that are given, and reads the catalogue again. Throws `not_found`, `invalid_request`. */
export async function changeWorker(
  broker: Broker,
  projectId: string,
  id: string,
  { enabled, ...sent }: z.output<typeof workerChangeSchema>,
): Promise<Worker> {
  const worker = await getWorker(broker, projectId, id)
  const wire = findWorkerType(worker.type)
  const others = Object.entries(sent).filter(([type, block]) => block !== undefined && type !== wire?.type)
  if (wire === undefined || others.length > 0)
    throw new BrokerError(
      'invalid_request',
      wire === undefined
        ? `The worker "${worker.id}" comes from GATEPASS_TOOLS; change it there.`
        : `The worker "${worker.id}" is of the type ${wire.type}: put its changes into \`${wire.type}\`.`,
    )
  const block = (sent as Record<string, unknown>)[wire.type] // parsed by the schema of the type
  return updateWorker(broker, worker, async (current) => ({
    ...(enabled !== undefined && { enabled }),
    ...(block !== undefined && (await wire.toChange(broker, block, current))),
  }))
}

/** Deletes the worker with its tools; from then on their names are free. Throws `not_found`, `invalid_request` for one that the settings name. */
export async function deleteWorker(broker: Broker, projectId: string, id: string): Promise<void> {
  const worker = await broker.store.workers.find(projectId, id)
  if (worker?.type === 'module')
    throw new BrokerError(
      'invalid_request',
      `The worker "${worker.id}" comes from GATEPASS_TOOLS; remove it there.`,
    )
  const names = worker === undefined ? 0 : await broker.store.toolNames.count(projectId, worker.uid)
  const audit = broker.audit.of(projectId, {
    action: 'worker.deleted',
    subject: id,
    ...(names > 0 && { reason: `names ${names}` }),
  })
  // a worker that was altered in the database is not found, and can still be deleted
  if (!(await broker.store.workers.delete(projectId, id, audit))) await getWorker(broker, projectId, id)
}

const REASONS = {
  inactive: 'It is switched off.',
  unreachable: 'Its catalogue could not be read; sync_error says why. It is tried again every half minute.',
  unauthorized: 'A user has to authorize it first: POST /v1/workers/{id}/authorize.',
} as const

export async function workerToWire(broker: Broker, worker: Worker): Promise<z.infer<typeof workerSchema>> {
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
    managed: wire === undefined,
    binding: { id: projectId, type: 'project' },
    ...(wire && { [type]: wire.toWire(broker, worker) }),
    requirements: {
      met: status === 'active' && isAuthorized !== false,
      ...(status !== 'active' && { status_reason: REASONS[status] }),
      ...(isAuthorized !== undefined && {
        authorization: { met: isAuthorized, oauth2: { met: isAuthorized } },
      }),
    },
    ...(syncedAt !== undefined && { synced_at: toTimestamp(syncedAt) }),
    ...(syncError !== undefined && { sync_error: syncError }),
    acceptance: await acceptanceToWire(broker, worker),
  }
}
