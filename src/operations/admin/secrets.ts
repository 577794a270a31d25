import { z } from '@hono/zod-openapi'
import { toTimestamp } from '../../domain/clock.ts'
import type { Secret } from '../../domain/secret.ts'
import { getSecret as get, deleteSecret as remove, setSecret as set } from '../../flows/manage-secrets.ts'
import { defineOperation } from '../operation.ts'
import { pageSchema, slicePage, wholeListQuery } from '../schemas/page.ts'

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
  value: z.string().min(1).max(5000).meta({ writeOnly: true }),
  description: z.string().max(1000).nullish(),
})

// Secrets for tools. Their values are given to tools and are in no answer. Arcade's SDKs use the paths below /v1/admin, its
// command line those below /v1/secrets.

const PATH = '/v1/admin/secrets'
const OF_CLI = '/v1/secrets'

export const setSecretByPost = setAt('setSecretByPost', 'post', PATH)
export const setSecret = {
  ...setAt('setSecret', 'put', PATH),
  sdk: 'admin.secrets.set(key, body.value)' as const,
}
export const listSecrets = { ...listAt('listSecrets', PATH), sdk: 'admin.secrets.list()' as const }
export const getSecret = { ...getAt('getSecret', PATH), sdk: 'admin.secrets.get(key)' as const }
export const deleteSecret = { ...deleteAt('deleteSecret', PATH), sdk: 'admin.secrets.delete(key)' as const }
export const setSecretForArcadeCli = setAt('setSecretForArcadeCli', 'put', OF_CLI)
export const listSecretsForArcadeCli = listAt('listSecretsForArcadeCli', OF_CLI)
export const getSecretForArcadeCli = getAt('getSecretForArcadeCli', OF_CLI)
export const deleteSecretForArcadeCli = deleteAt('deleteSecretForArcadeCli', OF_CLI)

type Path = typeof PATH | typeof OF_CLI

function setAt(id: string, method: 'post' | 'put', path: Path) {
  return defineOperation({
    id,
    method,
    path: `${path}/{key}`,
    role: 'admin',
    tag,
    summary: 'Set a secret',
    params: secretKeySchema,
    body: secretValueSchema,
    answer: 'Set',
    output: secretSchema,
    async run(broker, { params: { key }, body: { value, description }, caller }) {
      const secret = { key, value, ...(description != null && { description }) }
      return toWire(await set(broker, caller.projectId, secret))
    },
  })
}

function listAt(id: string, path: Path) {
  return defineOperation({
    id,
    method: 'get',
    path,
    role: 'readonly',
    tag,
    summary: 'All secrets, without their values',
    query: z.object(wholeListQuery),
    answer: 'One page, with all of them unless `limit` is given',
    output: pageSchema(secretSchema),
    async run(broker, { query, caller }) {
      const items = (await broker.store.secrets.list(caller.projectId)).map(toWire)
      return slicePage(items, { ...query, limit: query.limit ?? items.length })
    },
  })
}

function getAt(id: string, path: Path) {
  return defineOperation({
    id,
    method: 'get',
    path: `${path}/{key}`,
    role: 'readonly',
    tag,
    summary: 'One secret by its key or id, without its value',
    params: secretKeySchema,
    answer: 'The secret',
    output: secretSchema,
    run: async (broker, { params: { key }, caller }) => toWire(await get(broker, caller.projectId, key)),
  })
}

function deleteAt(id: string, path: Path) {
  return defineOperation({
    id,
    method: 'delete',
    path: `${path}/{key}`,
    role: 'admin',
    tag,
    summary: 'Delete a secret by its id or key',
    params: secretKeySchema,
    answer: 'Deleted',
    run: (broker, { params: { key }, caller }) => remove(broker, caller.projectId, key),
  })
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
    description,
    binding: { id: projectId, type: 'project' },
    created_at: toTimestamp(createdAt),
    updated_at: toTimestamp(updatedAt),
    last_accessed_at: toTimestamp(lastAccessedAt),
  }
}
