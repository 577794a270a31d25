import type { Context } from 'hono'
import { BrokerError } from '../../domain/errors.ts'
import type { Log } from '../../domain/log.ts'
import { errorResponse } from '../../http/endpoint/errors.ts'
import { EXPOSED_HEADERS } from '../../sdk/mcp/origins.ts'
import { bearerChallenge } from '../../sdk/mcp/resource.ts'
import type { McpResource } from './resource.ts'

/**
 * The HTTP response of a refused request. 401 and the 403 of a token without the needed scope carry a challenge (RFC
 * 6750 section 3) with the URL of the resource's metadata, by which a client finds the authorization server (RFC 9728
 * section 5.1).
 */
export function refusalResponse(c: Context, error: unknown, resource: McpResource, log: Log): Response {
  const response = errorResponse(c, error, log)
  if (!(error instanceof BrokerError)) return response
  const { code } = error
  if (code !== 'invalid_authorization' && code !== 'insufficient_scope') return response
  const hasCredential = c.req.header('authorization') !== undefined
  const challenge = bearerChallenge({
    error: code === 'insufficient_scope' ? code : hasCredential ? 'invalid_token' : undefined,
    resource_metadata: resource.metadataUrl,
    scope: 'mcp',
  })
  response.headers.set('www-authenticate', challenge)
  response.headers.set('access-control-expose-headers', EXPOSED_HEADERS)
  return response
}
