import { z } from '@hono/zod-openapi'
import type { Broker } from '../broker.ts'
import { toTimestamp } from '../domain/clock.ts'
import { BrokerError } from '../domain/errors.ts'
import type { Worker } from '../domain/worker.ts'
import { workerHealth } from '../tools/arcade/worker-protocol.ts'
import { toDefinition } from '../tools/tool-definition.ts'
import { requirementStatus } from '../tools/tool-requirements.ts'
import { getWorker, registerWorker, updateWorker, workerEndpoint } from '../tools/worker.ts'
import { type AddEndpoint, pageQuery, pageSchema, slicePage } from './endpoint.ts'
import { idText } from './limits.ts'

const httpSchema = z.object({
  uri: z.string().min(1).max(2048),
  secret: z.string().min(1).max(100),
  timeout: z.number().int().min(1).max(600).default(30).openapi({ description: 'Seconds' }),
  retry: z.number().int().min(0).max(10).default(3),
})

const workerSchema = z
  .object({
    id: z.string(),
    type: z.literal('http'),
    enabled: z.boolean(),
    managed: z.literal(false),
    binding: z.object({ id: z.string(), type: z.literal('project') }),
    http: z.object({
      uri: z.string(),
      timeout: z.number(),
      retry: z.number(),
      secret: z.object({ binding: z.literal('project'), editable: z.literal(true), exists: z.literal(true) }),
    }),
    requirements: z.object({ met: z.literal(true) }),
    synced_at: z.string().optional().openapi({ description: 'When its catalogue was last read' }),
    sync_error: z.string().optional().openapi({ description: 'Why it could not be read; it is tried again' }),
  })
  .openapi('Worker')

const idParams = z.object({ id: idText })
const tag = 'Workers'

/** HTTP tool workers: where tools run. */
export function addWorkers(add: AddEndpoint, broker: Broker): void {
  add(
    {
      method: 'post',
      path: '/v1/workers',
      role: 'admin',
      tag,
      summary: 'Register a worker',
      description:
        'Answers after its catalogue has been read once, or says in `sync_error` why it could not be.',
      body: z.object({
        id: z.string().regex(/^[A-Za-z0-9_.-]{1,100}$/, 'letters, digits, _ . - only'),
        type: z.string().nullish(),
        enabled: z.boolean().default(true),
        http: httpSchema.optional(),
        mcp: z.unknown().optional(),
      }),
      responses: { 201: { description: 'Registered', schema: workerSchema } },
    },
    async ({ c, body: { id, type, enabled, http }, caller }) => {
      if (type === 'mcp')
        throw new BrokerError(
          'not_implemented',
          'Workers of the type mcp are not supported yet; register an http worker.',
        )
      if (http === undefined || (type != null && type !== 'http'))
        throw new BrokerError(
          'invalid_request',
          'A worker needs `http` {uri, secret, timeout, retry}, and `type` http or none.',
        )
      const { uri, secret, timeout: timeoutSeconds, retry } = http
      const worker = await registerWorker(broker, caller.projectId, {
        id,
        enabled,
        uri,
        secret,
        timeoutSeconds,
        retry,
      })
      return c.json(toWire(worker), 201)
    },
  )

  add(
    {
      method: 'get',
      path: '/v1/workers',
      role: 'readonly',
      tag,
      summary: 'All workers',
      query: z.object(pageQuery),
      responses: { 200: { description: 'A page', schema: pageSchema(workerSchema) } },
    },
    async ({ c, query, caller }) =>
      c.json(slicePage((await broker.store.workers.list(caller.projectId)).map(toWire), query)),
  )

  add(
    {
      method: 'get',
      path: '/v1/workers/{id}',
      role: 'readonly',
      tag,
      summary: 'One worker',
      params: idParams,
      responses: { 200: { description: 'The worker', schema: workerSchema } },
    },
    async ({ c, params, caller }) => c.json(toWire(await getWorker(broker, caller.projectId, params.id))),
  )

  add(
    {
      method: 'patch',
      path: '/v1/workers/{id}',
      role: 'admin',
      tag,
      summary: 'Change a worker and read its catalogue again',
      params: idParams,
      body: z.object({
        enabled: z.boolean().optional(),
        http: z
          .object({
            uri: z.string().min(1).max(2048).optional(),
            secret: z.string().min(1).max(100).optional(),
            timeout: z.number().int().min(1).max(600).optional(),
            retry: z.number().int().min(0).max(10).optional(),
          })
          .optional(),
      }),
      responses: { 200: { description: 'Changed', schema: workerSchema } },
    },
    async ({ c, params, body: { enabled, http = {} }, caller }) => {
      const worker = await getWorker(broker, caller.projectId, params.id)
      const changed = await updateWorker(broker, worker, {
        ...(enabled !== undefined && { enabled }),
        ...(http.uri !== undefined && { uri: http.uri }),
        ...(http.secret !== undefined && { secret: http.secret }),
        ...(http.timeout !== undefined && { timeoutSeconds: http.timeout }),
        ...(http.retry !== undefined && { retry: http.retry }),
      })
      return c.json(toWire(changed))
    },
  )

  add(
    {
      method: 'delete',
      path: '/v1/workers/{id}',
      role: 'admin',
      tag,
      summary: 'Delete a worker with its tools',
      description: 'Metadata tools that it ran stay, unbound.',
      params: idParams,
      responses: { 204: { description: 'Gone' } },
    },
    async ({ c, params, caller }) => {
      const worker = await getWorker(broker, caller.projectId, params.id)
      const audit = broker.audit.of(caller.projectId, { action: 'worker.deleted', subject: worker.id })
      await broker.store.workers.delete(caller.projectId, worker.id, audit)
      return c.body(null, 204)
    },
  )

  add(
    {
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
      const health = await workerHealth(broker.outgoing, workerEndpoint(broker, worker))
      return c.json({ id: worker.id, enabled: worker.enabled, ...health })
    },
  )

  add(
    {
      method: 'get',
      path: '/v1/workers/{id}/tools',
      role: 'readonly',
      tag,
      summary: 'The tools of a worker',
      params: idParams,
      query: z.object(pageQuery),
      responses: { 200: { description: 'A page of tool definitions' } },
    },
    async ({ c, params, query, caller }) => {
      const worker = await getWorker(broker, caller.projectId, params.id)
      const tools = (await broker.store.tools.list(caller.projectId)).filter(
        ({ source }) => source.kind === 'worker' && source.workerUid === worker.uid,
      )
      const page = slicePage(tools, query)
      const items = await Promise.all(
        page.items.map(async (tool) => toDefinition(tool, await requirementStatus(broker, tool))),
      )
      return c.json({ ...page, items })
    },
  )
}

function toWire(worker: Worker): z.infer<typeof workerSchema> {
  const { id, projectId, enabled, uri, timeoutSeconds, retry, syncedAt, syncError } = worker
  return {
    id,
    type: 'http',
    enabled,
    managed: false,
    binding: { id: projectId, type: 'project' },
    http: {
      uri,
      timeout: timeoutSeconds,
      retry,
      secret: { binding: 'project', editable: true, exists: true },
    },
    requirements: { met: true },
    ...(syncedAt !== undefined && { synced_at: toTimestamp(syncedAt) }),
    ...(syncError !== undefined && { sync_error: syncError }),
  }
}
