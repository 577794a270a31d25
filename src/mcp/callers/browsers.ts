import type { Context, MiddlewareHandler } from 'hono'
import type { BrokerSettings } from '../../broker.ts'
import { isLoopbackHost } from '../../domain/confidential-url.ts'
import { EXPOSED_HEADERS, preflight } from '../../sdk/mcp/origins.ts'
import { rpcError } from '../../sdk/mcp/rpc-error.ts'

/**
 * Refuses requests of web pages that may not call `/mcp`, and permits other pages to read the answers (MCP,
 * Transports, "Security Warning"). A page may point its own host name at a server of the loopback interface (DNS
 * rebinding), so such a server answers only under its own names.
 */
export function guardBrowsers({
  publicUrl,
  mcp,
}: Pick<BrokerSettings, 'publicUrl' | 'mcp'>): MiddlewareHandler {
  const mayCall = (origin: string) =>
    origin === publicUrl.origin ||
    mcp.origins.has(origin) ||
    (URL.canParse(origin) &&
      /^https?:$/.test(new URL(origin).protocol) &&
      isLoopbackHost(new URL(origin).hostname))

  const isOwnHost = (host: string) => isLoopbackHost(host) || host === publicUrl.hostname

  return async (c, next) => {
    if (mcp.isLoopbackOnly && !isOwnHost(hostnameOf(c)))
      return rpcError(403, -32_000, 'This server does not answer under this host name.')
    const origin = c.req.header('origin')
    if (origin === undefined) return next()
    if (!mayCall(origin))
      return rpcError(403, -32_000, 'Pages of this origin may not call this server (GATEPASS_MCP_ORIGINS).')
    if (isPreflight(c)) return preflightFor(origin, c)
    await next()
    c.header('access-control-allow-origin', origin)
    c.header('access-control-expose-headers', EXPOSED_HEADERS)
    c.header('vary', 'Origin', { append: true })
    return undefined
  }
}

/** Permits every page to read public resources, with the request headers that MCP clients send. */
export function publicToBrowsers(): MiddlewareHandler {
  return async (c, next) => {
    if (isPreflight(c)) return preflightFor('*', c)
    await next()
    c.header('access-control-allow-origin', '*')
    return undefined
  }
}

function isPreflight(c: Context): boolean {
  return c.req.method === 'OPTIONS' && c.req.header('access-control-request-method') !== undefined
}

function preflightFor(origin: string, { req }: Context): Response {
  const response = preflight(req.raw)
  response.headers.set('access-control-allow-origin', origin)
  return response
}

/** The host name in the header `Host`, as `URL` spells it; empty if the header is invalid. */
function hostnameOf(c: Context): string {
  return URL.parse(`http://${c.req.header('host') ?? new URL(c.req.url).host}`)?.hostname ?? ''
}
