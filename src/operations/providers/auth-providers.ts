import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { addEntry, changeEntry, deleteEntry, getEntry } from '../../flows/manage-providers.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { Answer } from '../answer.ts'
import { defineOperation } from '../operation.ts'
import { idText } from '../schemas/fields.ts'
import { pageSchema, slicePage, wholeListQuery } from '../schemas/page.ts'
import { providerCreateSchema, providerPatchSchema, providerResponseSchema } from './provider-schema.ts'
import { applyProviderPatch, entryToWire, parseProviderCreate } from './provider-wire.ts'

const wireOptions = (broker: Broker) => ({
  allowsHttp: (url: URL) => broker.outgoing.allows(url),
  definitions: broker.definitions,
})

const idParams = z.object({ id: idText })
const tag = 'Providers'

export const createAuthProvider = defineOperation({
  id: 'createAuthProvider',
  sdk: 'admin.providers.create(provider)',
  method: 'post',
  path: '/v1/admin/auth_providers',
  role: 'admin',
  tag,
  summary: 'Add a provider',
  description:
    'With a `provider_id` of the built-in catalogue, or an `issuer` that has metadata, only the client is needed; else describe the requests. The answer has the redirect URI to register.',
  body: providerCreateSchema,
  takesIdempotencyKey: true,
  status: 201,
  answer: 'Added',
  output: providerResponseSchema,
  run: (broker, { body, caller }) => addProvider(broker, caller.projectId, body),
})

/** The same operation for an entry whose uid was reserved, so that its redirect URI is known already. */
export const createReserved = (uid: string) => ({
  ...createAuthProvider,
  run: (broker: Broker, { body, caller }: Parameters<typeof createAuthProvider.run>[1]) =>
    addProvider(broker, caller.projectId, body, uid),
})

async function addProvider(broker: Broker, projectId: string, body: unknown, uid?: string) {
  const described = parseProviderCreate(body, wireOptions(broker))
  return entryToWire(broker, await addEntry(broker, projectId, described, uid))
}

export const listAuthProviders = defineOperation({
  id: 'listAuthProviders',
  sdk: 'admin.providers.list()',
  method: 'get',
  path: '/v1/admin/auth_providers',
  role: 'readonly',
  tag,
  summary: 'All providers',
  query: z.object(wholeListQuery),
  answer: 'One page, with all of them unless `limit` is given',
  output: pageSchema(providerResponseSchema),
  async run(broker, { query, caller }) {
    const items = (await broker.store.providers.list(caller.projectId)).map((entry) =>
      entryToWire(broker, entry),
    )
    return slicePage(items, { ...query, limit: query.limit ?? items.length })
  },
})

export const getAuthProvider = defineOperation({
  id: 'getAuthProvider',
  sdk: 'admin.providers.get(id)',
  method: 'get',
  path: '/v1/admin/auth_providers/{id}',
  role: 'readonly',
  tag,
  summary: 'One provider',
  params: idParams,
  answer: 'The provider',
  output: providerResponseSchema,
  run: async (broker, { params, caller }) =>
    entryToWire(broker, await getEntry(broker, caller.projectId, params.id)),
})

export const updateAuthProvider = defineOperation({
  id: 'updateAuthProvider',
  sdk: 'admin.providers.update(id, changes)',
  method: 'patch',
  path: '/v1/admin/auth_providers/{id}',
  role: 'admin',
  tag,
  summary: 'Change a provider',
  description:
    'Members that are left out do not change. With another client id, or another endpoint in any role (origin and path), the provider counts as another one: existing connections then need a new consent, and their tokens are not sent to the new endpoints, unless `keep_connections` is set. Different versions of the endpoints in the catalogue count as the same provider.',
  params: idParams,
  body: providerPatchSchema,
  answer: 'Changed',
  output: providerResponseSchema,
  async run(broker, { params, body, caller }) {
    const describe = (before: ProviderEntry) => applyProviderPatch(before, body, wireOptions(broker))
    const changed = await changeEntry(broker, caller.projectId, params.id, describe, {
      keepsConnections: body.keep_connections === true,
      confirmsClient: body.oauth2?.environment_client === true,
    })
    return entryToWire(broker, changed)
  },
})

export const deleteAuthProvider = defineOperation({
  id: 'deleteAuthProvider',
  sdk: 'admin.providers.delete(id)',
  method: 'delete',
  path: '/v1/admin/auth_providers/{id}',
  role: 'admin',
  tag,
  summary: 'Delete a provider with its connections',
  description: 'Their tokens are not revoked at the provider.',
  params: idParams,
  answer: 'The deleted provider',
  output: providerResponseSchema,
  otherAnswers: {
    204: {
      description: 'Deleted. The provider is not in the answer, because it had been altered in the database',
    },
  },
  async run(broker, { params, caller: { projectId } }) {
    const deleted = await deleteEntry(broker, projectId, params.id)
    return deleted === undefined ? new Answer(undefined, { status: 204 }) : entryToWire(broker, deleted)
  },
})
