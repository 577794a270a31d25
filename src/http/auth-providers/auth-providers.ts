import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { type AddEndpoint, pageSchema, slicePage, wholeListQuery } from '../endpoint/endpoint.ts'
import { idText } from '../endpoint/fields.ts'
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
        'What is left out stays. Another client id, or another endpoint in any role (origin and path), makes another identity: existing connections then need a new consent, and their tokens are never sent to the new endpoints, unless `keep_connections` says so. Endpoints of the catalogue are one identity with their other versions.',
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
        200: { description: 'What it was', schema: providerResponseSchema },
        204: {
          description: 'Gone. What it was is not told, since it had been changed in the database by hand',
        },
      },
    },
    async ({ c, params, caller: { projectId } }) => {
      const gone = await deleteEntry(broker, projectId, params.id)
      return gone === undefined ? c.body(null, 204) : c.json(render(gone))
    },
  )
}
