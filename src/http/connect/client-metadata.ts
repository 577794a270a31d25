import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { publishedRedirectUris } from '../../flows/own-domain.ts'
import { clientMetadata } from '../../providers/client-registration.ts'
import { clientMetadataUrl } from '../../tools/mcp/client-metadata-url.ts'

/** Short, because a project's domain becomes a redirect URI once it has been proved. */
const MAX_AGE_SECONDS = 300

/**
 * The client metadata of this broker, for authorization servers at which a URL is its client id
 * (draft-ietf-oauth-client-id-metadata-document). It is public.
 */
export function addClientMetadata(app: OpenAPIHono, broker: Broker): void {
  app.get('/oauth/client/:uid', async (c) => {
    const entry = await broker.store.providers.findByUid(c.req.param('uid'))
    const url = entry && clientMetadataUrl(broker, entry)
    if (entry === undefined || url === undefined || entry.clientId !== url)
      throw new BrokerError('not_found', 'There is no client of that name.')
    const { publicUrl } = broker.settings
    await broker.domains.settled()
    const redirectUris = publishedRedirectUris(broker, entry)
    c.header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`)
    return c.json({ client_id: url, ...clientMetadata({ publicUrl, redirectUris, authMethod: 'none' }) })
  })
}
