import { z } from '@hono/zod-openapi'
import type { Broker } from '../broker.ts'
import { toTimestamp } from '../domain/clock.ts'
import { BrokerError } from '../domain/errors.ts'
import type { Secret } from '../domain/secret.ts'
import { setSecret } from '../tools/secrets.ts'
import { type AddEndpoint, pageSchema, slicePage } from './endpoint.ts'
import { idText } from './limits.ts'

const secretSchema = z
  .object({
    id: z.string(),
    key: z.string(),
    description: z.string().optional(),
    binding: z.object({ id: z.string(), type: z.literal('project') }),
    created_at: z.string(),
    updated_at: z.string(),
    last_accessed_at: z.string().optional(),
  })
  .openapi('Secret')

const tag = 'Administration'

/** Secrets that tools declare. Their values go in and never come out again, but to the tools. */
export function addSecrets(add: AddEndpoint, broker: Broker): void {
  add(
    {
      method: 'post',
      path: '/v1/admin/secrets/{key}',
      role: 'admin',
      tag,
      summary: 'Set a secret',
      params: z.object({ key: z.string().regex(/^[A-Za-z0-9_.-]{1,200}$/, 'letters, digits, _ . - only') }),
      body: z.object({ value: z.string().min(1).max(5000), description: z.string().max(1000).nullish() }),
      responses: { 200: { description: 'Set', schema: secretSchema } },
    },
    async ({ c, params: { key }, body: { value, description }, caller }) => {
      const secret = { key, value, ...(description != null && { description }) }
      return c.json(toWire(await setSecret(broker, caller.projectId, secret)))
    },
  )

  add(
    {
      method: 'get',
      path: '/v1/admin/secrets',
      role: 'readonly',
      tag,
      summary: 'All secrets, without their values',
      responses: { 200: { description: 'One page with all of them', schema: pageSchema(secretSchema) } },
    },
    async ({ c, caller }) => {
      const items = (await broker.store.secrets.list(caller.projectId)).map(toWire)
      return c.json(slicePage(items, { offset: 0, limit: items.length }))
    },
  )

  add(
    {
      method: 'delete',
      path: '/v1/admin/secrets/{id}',
      role: 'admin',
      tag,
      summary: 'Delete a secret by its id',
      params: z.object({ id: idText }),
      responses: { 204: { description: 'Gone' } },
    },
    async ({ c, params: { id }, caller }) => {
      const audit = broker.audit.of(caller.projectId, { action: 'secret.deleted', subject: id })
      if (!(await broker.store.secrets.delete(caller.projectId, id, audit)))
        throw new BrokerError(
          'not_found',
          `There is no secret with the id "${id.slice(0, 80)}" in this project.`,
        )
      return c.body(null, 204)
    },
  )
}

function toWire({
  id,
  projectId,
  key,
  description,
  createdAt,
  updatedAt,
  lastAccessedAt,
}: Secret): z.infer<typeof secretSchema> {
  return {
    id,
    key,
    ...(description !== undefined && { description }),
    binding: { id: projectId, type: 'project' },
    created_at: toTimestamp(createdAt),
    updated_at: toTimestamp(updatedAt),
    ...(lastAccessedAt !== undefined && { last_accessed_at: toTimestamp(lastAccessedAt) }),
  }
}
