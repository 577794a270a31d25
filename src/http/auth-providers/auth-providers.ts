import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { idText } from '../../operations/schemas/fields.ts'
import { pageSchema, slicePage, wholeListQuery } from '../../operations/schemas/page.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import type { AddEndpoint } from '../endpoint/endpoint.ts'
import { addEntry, changeEntry, deleteEntry, entryToWire, getEntry } from './entry-changes.ts'
import { providerCreateSchema, providerPatchSchema, providerResponseSchema } from './provider-schema.ts'

const idParams = z.object({ id: idText })
const tag = 'Providers'

/** Provider entries, in the form of Arcade's API. Answers never contain their secrets. */
export function addAuthProviders(add: AddEndpoint, broker: Broker): void {
  const render = (entry: ProviderEntry) => entryToWire(broker, entry)

  add(
    {
      operationId: 'createAuthProvider',
      method: 'post',
      path: '/v1/admin/auth_providers',
      role: 'admin',
      tag,
      summary: 'Add a provider',
      description:
        'With a `provider_id` of the built-in catalogue, or an `issuer` that has metadata, only the client is needed; else describe the requests. The answer has the redirect URI to register.',
      body: providerCreateSchema,
      takesIdempotencyKey: true,
      responses: { 201: { description: 'Added', schema: providerResponseSchema } },
    },
    async ({ c, body, caller }) => c.json(render(await addEntry(broker, caller.projectId, body)), 201),
  )

  add(
    {
      operationId: 'listAuthProviders',
      method: 'get',
      path: '/v1/admin/auth_providers',
      role: 'readonly',
      tag,
      summary: 'All providers',
      query: z.object(wholeListQuery),
      responses: {
        200: {
          description: 'One page, with all of them unless `limit` is given',
          schema: pageSchema(providerResponseSchema),
        },
      },
    },
    async ({ c, query, caller }) => {
      const items = (await broker.store.providers.list(caller.projectId)).map(render)
      return c.json(slicePage(items, { ...query, limit: query.limit ?? items.length }))
    },
  )

  add(
    {
      operationId: 'getAuthProvider',
      method: 'get',
      path: '/v1/admin/auth_providers/{id}',
      role: 'readonly',
      tag,
      summary: 'One provider',
      params: idParams,
      responses: { 200: { description: 'The provider', schema: providerResponseSchema } },
    },
    async ({ c, params, caller }) => c.json(render(await getEntry(broker, caller.projectId, params.id))),
  )

  add(
    {
      operationId: 'updateAuthProvider',
      method: 'patch',
      path: '/v1/admin/auth_providers/{id}',
      role: 'admin',
      tag,
      summary: 'Change a provider',
      description:
        'Members that are left out do not change. With another client id, or another endpoint in any role (origin and path), the provider counts as another one: existing connections then need a new consent, and their tokens are not sent to the new endpoints, unless `keep_connections` is set. Different versions of the endpoints in the catalogue count as the same provider.',
      params: idParams,
      body: providerPatchSchema,
      responses: { 200: { description: 'Changed', schema: providerResponseSchema } },
    },
    async ({ c, params, body, caller }) =>
      c.json(render(await changeEntry(broker, caller.projectId, params.id, body))),
  )

  add(
    {
      operationId: 'deleteAuthProvider',
      method: 'delete',
      path: '/v1/admin/auth_providers/{id}',
      role: 'admin',
      tag,
      summary: 'Delete a provider with its connections',
      params: idParams,
      responses: {
        200: { description: 'The deleted provider', schema: providerResponseSchema },
        204: {
          description:
            'Deleted. The provider is not in the answer, because it had been altered in the database',
        },
      },
    },
    async ({ c, params, caller: { projectId } }) => {
      const deleted = await deleteEntry(broker, projectId, params.id)
      return deleted === undefined ? c.body(null, 204) : c.json(render(deleted))
    },
  )
}
