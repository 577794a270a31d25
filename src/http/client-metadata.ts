import { z } from '@hono/zod-openapi'
import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import { clientMetadata } from '../providers/client-registration.ts'
import { clientMetadataUrl } from '../tools/mcp/client-metadata-url.ts'
import type { AddEndpoint } from './endpoint.ts'
import { idText } from './limits.ts'

/** What authorization servers read of this broker where its URL is the client id: public, and the same for everybody. */
export function addClientMetadata(add: AddEndpoint, broker: Broker): void {
  add(
    {
      method: 'get',
      path: '/oauth/client/{uid}',
      role: 'public',
      tag: 'Authorization',
      summary: 'This broker as an OAuth client (client ID metadata document)',
      params: z.object({ uid: idText }),
      responses: { 200: { description: 'The document, as RFC 7591 names its members' } },
    },
    async ({ c, params }) => {
      const entry = await broker.store.providers.findByUid(params.uid)
      const url = entry && clientMetadataUrl(broker, entry)
      if (entry === undefined || url === undefined || entry.clientId !== url)
        throw new BrokerError('not_found', 'There is no client of that name.')
      const { publicUrl } = broker.settings
      const redirectUri = broker.redirectUri(entry)
      c.header('cache-control', 'public, max-age=3600')
      return c.json({ client_id: url, ...clientMetadata({ publicUrl, redirectUri, authMethod: 'none' }) })
    },
  )
}
