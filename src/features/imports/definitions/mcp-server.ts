import type { Outgoing } from '../../../egress/outgoing.ts'
import { type Discover, discoverAtOrigin } from '../../../providers/discovery.ts'
import {
  bearerChallenge,
  discoverProtectedResource,
  NoResourceMetadata,
} from '../../../providers/protected-resource.ts'
import type { ImportedProvider, ImportOptions } from './imported.ts'
import { notCarried } from './imported.ts'
import { definitionOf } from './issuer.ts'

/**
 * The definition of the authorization server that a remote MCP server names (RFC 9728), or that is at its origin (MCP
 * 2025-03-26). Tokens are requested with the server as their resource (RFC 8707). Endpoints are not guessed: without
 * metadata nothing is carried over. Throws `ProviderRefusal`, and `OutgoingError` if the server itself gives no
 * response.
 */
export async function importMcpServer(
  { outgoing, discover }: { readonly outgoing: Outgoing; readonly discover: Discover },
  server: URL,
  options: ImportOptions = {},
): Promise<ImportedProvider> {
  const { status, headers } = await outgoing.send({
    url: server,
    purpose: 'discovery',
    headers: { accept: 'application/json, text/event-stream' },
  })
  const challenge = bearerChallenge(status === 401 ? headers['www-authenticate'] : undefined)
  const found = await discoverProtectedResource(outgoing, server, challenge).catch((error: unknown) => {
    if (error instanceof NoResourceMetadata) return undefined
    throw error
  })
  const besides = { apiBaseUrl: server.href }
  if (found === undefined) {
    const { metadata, isGuessed } = await discoverAtOrigin(outgoing, discover, server)
    return isGuessed
      ? notCarried(server.host, 'neither the server nor its origin has metadata of an authorization server')
      : definitionOf(server.host, metadata, besides, options)
  }
  const [issuer = ''] = found.authorizationServers
  return definitionOf(
    server.host,
    await discover(issuer),
    {
      ...besides,
      params: { resource: found.resource },
      defaultScopes: challenge.scopes ?? found.scopesSupported ?? [],
    },
    options,
  )
}
