import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { BrokerSettings } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { isToolsetId } from '../../domain/shown-tools.ts'
import type { OnAnswered } from '../../http/endpoint/observed-request.ts'
import { METADATA_PATH } from '../../sdk/mcp/resource.ts'
import { publicToBrowsers } from './browsers.ts'
import { issuersOf, type McpResource, mcpResource } from './resource.ts'

/**
 * The metadata of `/mcp` and `/mcp/{toolset}` as protected resources (RFC 9728), by which MCP clients find the
 * authorization server. Every possible toolset has the same metadata, so it does not tell which ones exist.
 */
export function addResourceMetadata(
  app: OpenAPIHono,
  settings: Pick<BrokerSettings, 'publicUrl' | 'mcp'>,
  onAnswered: OnAnswered | undefined,
): void {
  for (const path of ['/mcp', '/mcp/:toolset']) {
    const wellKnown = `${METADATA_PATH}${path}`
    const route = { method: 'GET', path: wellKnown.replace(':toolset', '{toolset}') }
    app.use(wellKnown, publicToBrowsers())
    app.get(wellKnown, (c: Context) => {
      const begun = performance.now()
      const toolset = c.req.param('toolset')
      if (toolset !== undefined && !isToolsetId(toolset))
        throw new BrokerError('not_found', 'There is no such resource here.')
      onAnswered?.(route, 200, performance.now() - begun, { c, begun })
      return c.json(resourceMetadata(mcpResource(settings.publicUrl, toolset), issuersOf(settings)))
    })
  }
}

/** RFC 9728 section 2. */
function resourceMetadata({ url }: McpResource, authorizationServers: readonly string[]) {
  return {
    resource: url,
    authorization_servers: authorizationServers,
    scopes_supported: ['mcp'],
    bearer_methods_supported: ['header'],
    resource_name: 'Gatepass',
  }
}
