import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { toTimestamp } from '../../domain/clock.ts'
import type { McpConsent } from '../../domain/mcp-consent.ts'
import { endClient, hasAccess } from '../../flows/mcp-clients.ts'
import { defineOperation } from '../operation.ts'
import { cursorPageSchema, cursorQuery, requestedPage, toCursorPage } from '../schemas/cursor-page.ts'
import { idText, userIdText } from '../schemas/fields.ts'

const mcpClientSchema = z
  .object({
    id: z.string(),
    user_id: z.string(),
    client_id: z.string().meta({ description: 'The URL of the metadata document of the client' }),
    client_name: z.string().meta({ description: 'The name that the client gives itself' }),
    redirect_uri: z.string().meta({ description: 'A loopback URI is shown without its port' }),
    scopes: z.array(z.string()),
    has_access: z.boolean().meta({
      description:
        'False: its tokens are refused until the user allows it again, since the access has ended or another GATEPASS_USER_VERIFIER identified the user',
    }),
    created_at: z.string(),
    last_used_at: z.string().optional().meta({ description: 'When it last got an access token' }),
  })
  .openapi('McpClient')

const tag = 'Connections'

export const listMcpClients = defineOperation({
  id: 'listMcpClients',
  sdk: 'admin.mcpClients.list()',
  method: 'get',
  path: '/v1/admin/mcp_clients',
  role: 'admin',
  tag,
  summary: 'The MCP clients that users have allowed to act for them',
  query: z.object({ user_id: userIdText.optional(), ...cursorQuery }),
  answer: 'A page, the newest first',
  output: cursorPageSchema(mcpClientSchema),
  async run(broker, { query, caller: { projectId } }) {
    const { user_id: userId } = query
    const list = ['mcp_clients', projectId, userId]
    const pageRequest = requestedPage(query, list)
    const filter = { ...(userId !== undefined && { userId }) }
    const page = await broker.store.mcpConsents.list(projectId, filter, pageRequest)
    return toCursorPage(
      page.items.map((item) => mcpClientToWire(broker, item)),
      page,
      pageRequest,
      list,
    )
  },
})

export const deleteMcpClient = defineOperation({
  id: 'deleteMcpClient',
  sdk: 'admin.mcpClients.delete(id)',
  method: 'delete',
  path: '/v1/admin/mcp_clients/{id}',
  role: 'admin',
  tag,
  summary: "End a client's access for its user",
  description:
    'Its access and refresh tokens are refused from then on. To act again it needs a new consent of the user.',
  params: z.object({ id: idText }),
  answer: 'Ended',
  async run(broker, { params: { id }, caller: { projectId } }) {
    await endClient(broker, projectId, id)
  },
})

function mcpClientToWire(broker: Broker, consent: McpConsent): z.infer<typeof mcpClientSchema> {
  const { id, userId, clientId, clientName, redirectUri, scopes, createdAt, lastUsedAt } = consent
  return {
    id,
    user_id: userId,
    client_id: clientId,
    client_name: clientName,
    redirect_uri: redirectUri,
    scopes: [...scopes],
    has_access: hasAccess(broker, consent),
    created_at: toTimestamp(createdAt),
    last_used_at: toTimestamp(lastUsedAt),
  }
}
