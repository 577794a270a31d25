import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import type { ApiKey } from '../../domain/api-key.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { type Connection, NEEDS_AUTHORIZATION_REASONS } from '../../domain/connection.ts'
import { addTypedConnection } from '../../flows/add-typed-connection.ts'
import { getConnectionToken as getToken } from '../../flows/connection-token.ts'
import { getConnection as get, makeDefault } from '../../flows/get-connection.ts'
import { findProviderByUid, getProvider } from '../../flows/get-provider.ts'
import { revokeConnection } from '../../flows/revoke-connection.ts'
import { defineOperation, type Sent } from '../operation.ts'
import { cursorPageSchema, cursorQuery, requestedPage, toCursorPage } from '../schemas/cursor-page.ts'
import { errorSchema } from '../schemas/error-schema.ts'
import { fieldsText, idText, userIdText } from '../schemas/fields.ts'

const connectionSchema = z
  .object({
    id: z.string(),
    user_id: z.string(),
    provider_id: z.string(),
    account: z.object({ id: z.string(), name: z.string() }),
    scopes: z.array(z.string()),
    status: z.enum(['active', 'needs_authorization']),
    status_reason: z.enum(NEEDS_AUTHORIZATION_REASONS).optional(),
    expires_at: z.string().optional(),
    created_at: z.string(),
    last_used_at: z.string().optional(),
    default: z.boolean().meta({ description: 'The account that is used when a call names none' }),
  })
  .openapi('Connection')

const tokenSchema = z
  .object({
    access_token: z.string(),
    token_type: z.string(),
    expires_at: z.string().optional(),
    scopes: z.array(z.string()),
  })
  .openapi('AccessToken')

const idParams = z.object({ id: idText })
const tag = 'Connections'

export const listConnections = defineOperation({
  id: 'listConnections',
  method: 'get',
  path: '/v1/connections',
  role: 'readonly',
  keysOfUsers: 'user_id',
  tag,
  summary: "A user's connections, never with a token",
  query: z.object({
    user_id: userIdText.optional(),
    provider_id: idText.optional(),
    ...cursorQuery,
  }),
  answer: 'A page',
  output: cursorPageSchema(connectionSchema),
  async run(broker, { query, caller }) {
    const { user_id: userId, provider_id: providerId } = query
    const providerUid =
      providerId === undefined ? undefined : (await getProvider(broker, caller.projectId, { providerId })).uid
    const filter = {
      ...(userId !== undefined && { userId }),
      ...(providerUid !== undefined && { providerUid }),
    }
    const list = ['connections', caller.projectId, userId, providerUid]
    const pageRequest = requestedPage(query, list)
    const page = await broker.store.connections.list(caller.projectId, filter, pageRequest)
    const items = await Promise.all(page.items.map((connection) => toWire(broker, connection)))
    return toCursorPage(items, page, pageRequest, list)
  },
})

export const createConnection = defineOperation({
  id: 'createConnection',
  method: 'post',
  path: '/v1/connections',
  role: 'admin',
  tag,
  summary: 'Store what a user would type: a key, or a user name with a password',
  description:
    'For providers of the type `credentials`, in place of the form on our page. The service is asked first, as by the form: nothing is stored that it refuses. A connection of the same account gets the new fields in place of its own.',
  body: z.object({
    user_id: userIdText,
    provider_id: idText.meta({ description: 'The id of a provider of the project, or a well-known one' }),
    fields: fieldsText.meta({
      writeOnly: true,
      description: 'All fields of the provider (`credentials.fields`), secrets too',
      example: { domain: 'acme', api_key: '…' },
    }),
    default: z.boolean().optional().meta({
      description: 'Whether calls that name no account use it. The first connection is used anyway.',
    }),
  }),
  status: 201,
  answer: 'Stored',
  output: connectionSchema,
  async run(broker, { body, caller }) {
    const connection = await addTypedConnection(broker, {
      projectId: caller.projectId,
      userId: body.user_id,
      provider: body.provider_id,
      fields: body.fields,
      isDefault: body.default ?? false,
    })
    return toWire(broker, connection)
  },
})

export const getConnection = defineOperation({
  id: 'getConnection',
  method: 'get',
  path: '/v1/connections/{id}',
  role: 'readonly',
  keysOfUsers: 'own',
  tag,
  summary: 'One connection',
  params: idParams,
  answer: 'The connection',
  output: connectionSchema,
  run: async (broker, { params: { id }, caller }) =>
    await toWire(broker, await get(broker, caller.projectId, id)),
})

export const setDefaultConnection = defineOperation({
  id: 'setDefaultConnection',
  method: 'patch',
  path: '/v1/connections/{id}',
  role: 'caller',
  keysOfUsers: 'own',
  tag,
  summary: 'Make a connection the default account of its user',
  params: idParams,
  body: z.object({ default: z.literal(true) }),
  answer: 'The connection',
  output: connectionSchema,
  async run(broker, { params: { id }, caller }) {
    await makeDefault(broker, await get(broker, caller.projectId, id))
    return toWire(broker, await get(broker, caller.projectId, id))
  },
})

export const getConnectionToken = defineOperation({
  id: 'getConnectionToken',
  method: 'post',
  path: '/v1/connections/{id}/token',
  role: 'caller',
  keysOfUsers: 'own',
  tag,
  summary: 'The access token of a connection, refreshed if need be',
  description:
    'With `force_refresh` the token is refreshed before it expires: for a token that the provider has refused (401, `invalid_token`). A token that was received less than 10 seconds ago is not refreshed.',
  params: idParams,
  body: z.object({ force_refresh: z.boolean().optional() }),
  bodyIsOptional: true,
  answer: 'The token',
  output: tokenSchema,
  otherAnswers: { 403: { description: 'The user must approve again', schema: errorSchema } },
  run: (broker, { params: { id }, body: { force_refresh: forceRefresh }, caller }) =>
    connectionToken(broker, caller, { id, forceRefresh }),
})

/** The answer of `getConnectionToken`. */
export async function connectionToken(
  broker: Broker,
  { projectId }: ApiKey,
  { id, forceRefresh = false }: { readonly id: string; readonly forceRefresh?: boolean | undefined },
): Promise<Sent<z.input<typeof tokenSchema>>> {
  const { connection, accessToken } = await getToken(broker, projectId, id, { forceRefresh })
  return {
    access_token: accessToken,
    token_type: connection.tokenType,
    expires_at: toTimestamp(connection.expiresAt),
    scopes: connection.scopes,
  }
}

export const deleteConnection = defineOperation({
  id: 'deleteConnection',
  method: 'delete',
  path: '/v1/connections/{id}',
  role: 'caller',
  keysOfUsers: 'own',
  tag,
  summary: 'Delete a connection, and revoke its tokens at the provider',
  description:
    'The connection is always deleted in Gatepass; `revocation` says whether its tokens were revoked at the provider (RFC 7009).',
  params: idParams,
  answer: 'Deleted',
  output: z
    .object({ id: z.string(), revocation: z.enum(['revoked', 'unsupported', 'failed']) })
    .openapi('DeletedConnection'),
  async run(broker, { params: { id }, caller }) {
    const connection = await get(broker, caller.projectId, id)
    return { id, revocation: await revokeConnection(broker, connection) }
  },
})

async function toWire(broker: Broker, connection: Connection): Promise<z.infer<typeof connectionSchema>> {
  const { id, userId, account, scopes, status, statusReason, expiresAt, createdAt, lastUsedAt, isDefault } =
    connection
  const entry = await findProviderByUid(broker, connection.projectId, connection.providerUid)
  return {
    id,
    user_id: userId,
    provider_id: entry?.id ?? connection.providerUid,
    account: { id: account.id, name: account.name },
    scopes: [...scopes],
    status,
    status_reason: statusReason,
    expires_at: toTimestamp(expiresAt),
    created_at: toTimestamp(createdAt),
    last_used_at: toTimestamp(lastUsedAt),
    default: isDefault,
  }
}
