import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import type { Connection } from '../../domain/connection.ts'
import { getConnection } from '../../flows/get-connection.ts'
import { findProviderByUid } from '../../flows/get-provider.ts'
import { revokeConnection } from '../../flows/revoke-connection.ts'
import { openAccess } from '../../flows/seal-grant.ts'
import { UnknownKeyError, UnsealError } from '../../store/seal.ts'
import { defineOperation } from '../operation.ts'
import { cursorPageSchema, cursorQuery, requestedPage, toCursorPage } from '../schemas/cursor-page.ts'
import { idText, userIdText } from '../schemas/fields.ts'
import { jsonObject } from '../schemas/json-schemas.ts'
import { toPage } from '../schemas/page.ts'

const userConnectionSchema = z
  .object({
    id: z.string(),
    connection_id: z.string(),
    connection_status: z.enum(['active', 'needs_authorization']),
    provider_id: z.string(),
    provider_type: z.literal('oauth2'),
    provider_description: z.string(),
    provider_user_info: jsonObject,
    scopes: z.array(z.string()),
    user_id: z.string(),
  })
  .openapi('UserConnection')

export const listUserConnections = defineOperation({
  id: 'listUserConnections',
  sdk: 'admin.connections.list()',
  method: 'get',
  path: '/v1/admin/user_connections',
  role: 'admin',
  tag: 'Connections',
  summary: "All users' connections, with the provider's user info of each account",
  query: z.object({
    provider_id: idText.optional(),
    user_id: userIdText.optional(),
    ...cursorQuery,
  }),
  answer: 'A page',
  output: cursorPageSchema(userConnectionSchema),
  async run(broker, { query, caller: { projectId } }) {
    const { user_id: userId, provider_id: providerId } = query
    const provider =
      providerId === undefined ? undefined : await broker.store.providers.findById(projectId, providerId)
    if (providerId !== undefined && provider === undefined) return toPage([], 0, query)
    const filter = {
      ...(userId !== undefined && { userId }),
      ...(provider !== undefined && { providerUid: provider.uid }),
    }
    const list = ['user_connections', projectId, userId, provider?.uid]
    const pageRequest = requestedPage(query, list)
    const page = await broker.store.connections.list(projectId, filter, pageRequest)
    const items = await Promise.all(page.items.map((item) => toWire(broker, item)))
    return toCursorPage(items, page, pageRequest, list)
  },
})

export const deleteUserConnection = defineOperation({
  id: 'deleteUserConnection',
  sdk: 'admin.connections.delete(id)',
  method: 'delete',
  path: '/v1/admin/user_connections/{id}',
  role: 'admin',
  tag: 'Connections',
  summary: 'Delete the connection of any user, and revoke its tokens at the provider',
  params: z.object({ id: idText }),
  answer: 'Deleted',
  async run(broker, { params, caller }) {
    await revokeConnection(broker, await getConnection(broker, caller.projectId, params.id))
  },
})

async function toWire(broker: Broker, connection: Connection): Promise<z.infer<typeof userConnectionSchema>> {
  const entry = await findProviderByUid(broker, connection.projectId, connection.providerUid)
  return {
    id: connection.id,
    connection_id: connection.id,
    connection_status: connection.status,
    provider_id: entry?.id ?? connection.providerUid,
    provider_type: 'oauth2',
    provider_description: entry?.description ?? entry?.provider.displayName ?? '',
    provider_user_info: { ...userInfo(broker, connection) },
    scopes: [...connection.scopes],
    user_id: connection.userId,
  }
}

/** Empty for a connection that cannot be decrypted, so that the list still shows the others. */
function userInfo(broker: Broker, connection: Connection): Readonly<Record<string, unknown>> {
  try {
    return openAccess(broker, connection).userInfo
  } catch (error) {
    if (error instanceof UnsealError || error instanceof UnknownKeyError) return {}
    throw error
  }
}
