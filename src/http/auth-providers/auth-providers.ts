import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { changeProvider } from '../../flows/change-provider.ts'
import { missingSettings, similarProvider } from '../../flows/find-provider.ts'
import { withDiscoveredMetadata } from '../../flows/issuer-metadata.ts'
import { sealClientSecret } from '../../flows/provider-entry.ts'
import type { ProviderEntry } from '../../providers/provider.ts'
import { type AddEndpoint, pageSchema, slicePage, wholeListQuery } from '../endpoint/endpoint.ts'
import { idText } from '../endpoint/fields.ts'
import { providerCreateSchema, providerPatchSchema, providerResponseSchema } from './provider-schema.ts'
import { applyProviderPatch, parseProviderCreate, providerToWire } from './provider-wire.ts'

const idParams = z.object({ id: idText })
const tag = 'Providers'

/** Provider entries, in the form of Arcade's API. Answers never contain their secrets. */
export function addAuthProviders(add: AddEndpoint, broker: Broker): void {
  const { store, now } = broker
  const wireOptions = {
    allowsHttp: (url: URL) => broker.outgoing.allows(url),
    definitions: broker.definitions,
  }
  const render = (entry: ProviderEntry) =>
    providerToWire(
      entry,
      broker.redirectUri(entry),
      broker.clientFor(entry)?.clientSecret !== undefined,
      missingSettings(broker, entry),
    )

  async function get(projectId: string, id: string): Promise<ProviderEntry> {
    const entry = await store.providers.findById(projectId, id)
    if (entry === undefined)
      throw new BrokerError(
        'not_found',
        `There is no provider "${id}" in this project.${similarProvider(id, await store.providers.list(projectId))}`,
      )
    return entry
  }

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
    async ({ c, body, caller: { projectId } }) => {
      const { entry: said, clientSecret } = parseProviderCreate(body, wireOptions)
      const entry = { ...said, provider: await withDiscoveredMetadata(broker, said.provider) }
      const uid = newId('prov')
      const added = await store.providers.add(
        {
          ...entry,
          uid,
          projectId,
          ...(clientSecret !== undefined && {
            clientSecret: sealClientSecret(broker, { uid, projectId }, clientSecret),
          }),
          createdAt: now(),
          updatedAt: now(),
        },
        broker.audit.of(projectId, { action: 'provider.added', providerId: entry.id }),
      )
      if (added === undefined)
        throw new BrokerError(
          'already_exists',
          `There is a provider "${entry.id}" already. Change it (PATCH, gatepass providers set), or choose another id.`,
        )
      return c.json(render(added), 201)
    },
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
      const items = (await store.providers.list(caller.projectId)).map(render)
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
    async ({ c, params, caller }) => c.json(render(await get(caller.projectId, params.id))),
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
    async ({ c, params, body, caller }) => {
      const before = await get(caller.projectId, params.id)
      const patched = applyProviderPatch(before, body, wireOptions)
      const entry: ProviderEntry = {
        ...patched.entry,
        provider: await withDiscoveredMetadata(broker, patched.entry.provider),
        // an entry that an administrator has changed is not changed by later imports
        source: 'admin',
        updatedAt: now(),
        ...(patched.clientSecret !== undefined && {
          clientSecret: sealClientSecret(broker, patched.entry, patched.clientSecret),
        }),
      }
      await changeProvider(broker, before, entry, {
        keepConnections: body.keep_connections === true,
        confirmed: body.oauth2?.environment_client === true,
      })
      return c.json(render(entry))
    },
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
      const entry = await store.providers.findById(projectId, params.id)
      const gone = entry && render(entry)
      const audit = broker.audit.of(projectId, { action: 'provider.deleted', providerId: params.id })
      if (!(await store.providers.delete(projectId, params.id, audit))) await get(projectId, params.id)
      return gone === undefined ? c.body(null, 204) : c.json(gone)
    },
  )
}
