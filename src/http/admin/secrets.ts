import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { BrokerError } from '../../domain/errors.ts'
import { didYouMean } from '../../domain/nearest.ts'
import type { Secret } from '../../domain/secret.ts'
import { pageSchema, slicePage, wholeListQuery } from '../../operations/schemas/page.ts'
import { setSecret } from '../../tools/secrets.ts'
import type { AddEndpoint } from '../endpoint/endpoint.ts'

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

const tag = 'Secrets'

export const secretKeySchema = z.object({
  key: z.string().regex(/^[A-Za-z0-9_.-]{1,200}$/, 'must have letters, digits, _ . - only'),
})
export const secretValueSchema = z.object({
  value: z.string().min(1).max(5000),
  description: z.string().max(1000).nullish(),
})

/**
 * Secrets for tools. Their values are given to tools and are in no answer. Arcade's SDKs use the paths below /v1/admin, its
 * command line those below /v1/secrets.
 */
export function addSecrets(add: AddEndpoint, broker: Broker): void {
  for (const path of ['/v1/admin/secrets', '/v1/secrets'] as const) {
    const isAlias = path === '/v1/secrets'
    const named = (operation: string) => (isAlias ? `${operation}ForArcadeCli` : operation)
    for (const method of isAlias ? (['put'] as const) : (['post', 'put'] as const))
      add(
        {
          operationId: method === 'post' ? 'setSecretByPost' : named('setSecret'),
          method,
          path: `${path}/{key}`,
          role: 'admin',
          tag,
          summary: 'Set a secret',
          params: secretKeySchema,
          body: secretValueSchema,
          responses: { 200: { description: 'Set', schema: secretSchema } },
        },
        async ({ c, params: { key }, body: { value, description }, caller }) => {
          const secret = { key, value, ...(description != null && { description }) }
          return c.json(toWire(await setSecret(broker, caller.projectId, secret)))
        },
      )

    add(
      {
        operationId: named('listSecrets'),
        method: 'get',
        path,
        role: 'readonly',
        tag,
        summary: 'All secrets, without their values',
        query: z.object(wholeListQuery),
        responses: {
          200: {
            description: 'One page, with all of them unless `limit` is given',
            schema: pageSchema(secretSchema),
          },
        },
      },
      async ({ c, query, caller }) => {
        const items = (await broker.store.secrets.list(caller.projectId)).map(toWire)
        return c.json(slicePage(items, { ...query, limit: query.limit ?? items.length }))
      },
    )

    add(
      {
        operationId: named('getSecret'),
        method: 'get',
        path: `${path}/{key}`,
        role: 'readonly',
        tag,
        summary: 'One secret by its key or id, without its value',
        params: secretKeySchema,
        responses: { 200: { description: 'The secret', schema: secretSchema } },
      },
      async ({ c, params: { key }, caller }) =>
        c.json(toWire(await getSecret(broker, caller.projectId, key))),
    )

    add(
      {
        operationId: named('deleteSecret'),
        method: 'delete',
        path: `${path}/{key}`,
        role: 'admin',
        tag,
        summary: 'Delete a secret by its id or key',
        params: secretKeySchema,
        responses: { 204: { description: 'Deleted' } },
      },
      async ({ c, params: { key }, caller }) => {
        await deleteSecret(broker, caller.projectId, key)
        return c.body(null, 204)
      },
    )
  }
}

/** Deletes the secret with this id or key. Throws `not_found`. */
export async function deleteSecret(broker: Broker, projectId: string, name: string): Promise<void> {
  const { id } = await getSecret(broker, projectId, name)
  const audit = broker.audit.of(projectId, { action: 'secret.deleted', subject: id })
  if (!(await broker.store.secrets.delete(projectId, id, audit))) throw noSecret(name)
}

/** Finds the secret by its id, else by its key, ignoring case. Throws `not_found`. */
async function getSecret(broker: Broker, projectId: string, name: string): Promise<Secret> {
  const secrets = await broker.store.secrets.list(projectId)
  const found =
    secrets.find(({ id }) => id === name) ??
    secrets.find(({ key }) => key.toLowerCase() === name.toLowerCase())
  if (found !== undefined) return found
  throw noSecret(
    name,
    didYouMean(
      name,
      secrets.map(({ key }) => key),
    ),
  )
}

function noSecret(name: string, hint = ''): BrokerError {
  return new BrokerError(
    'not_found',
    `There is no secret with the id or key "${name.slice(0, 80)}" in this project.${hint}`,
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
