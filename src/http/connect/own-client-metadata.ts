import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { clientMetadata } from '../../providers/client-registration.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { callbackPath } from '../../services/users-origin.ts'
import { clientMetadataUrl } from '../../tools/mcp/client-metadata-url.ts'

/** Short, because a site of the project adds a redirect URI as soon as users see it. */
const MAX_AGE_SECONDS = 300

/**
 * Serves the client metadata documents of this broker (draft-ietf-oauth-client-id-metadata-document). The document's
 * URL is the broker's client id at authorization servers that fetch it. It is public.
 */
export function addClientMetadata(app: OpenAPIHono, broker: Broker): void {
  app.get('/oauth/client/:uid', async (c) => {
    const entry = await broker.store.providers.findByUid(c.req.param('uid'))
    const url = entry && clientMetadataUrl(broker, entry)
    if (entry === undefined || url === undefined || entry.clientId !== url)
      throw new BrokerError('not_found', 'There is no client of that name.')
    const { publicUrl } = broker.settings
    await broker.sites.settled() // so that a site that users see since just now is listed
    const redirectUris = publishedRedirectUris(broker, entry)
    c.header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`)
    return c.json({ client_id: url, ...clientMetadata({ publicUrl, redirectUris, authMethod: 'none' }) })
  })
}

/**
 * The redirect URIs in the document. A site is included only once users see it: an administrator could choose a host name
 * that belongs to others, who would then get codes of this client.
 */
function publishedRedirectUris(
  { settings, redirectUri }: Pick<Broker, 'settings' | 'redirectUri'>,
  entry: Pick<ProviderEntry, 'uid' | 'projectId'>,
): readonly [string, ...string[]] {
  const ofPublicUrl = new URL(callbackPath(entry.uid), settings.publicUrl).href
  const inUse = redirectUri(entry)
  return inUse === ofPublicUrl ? [ofPublicUrl] : [ofPublicUrl, inUse]
}
