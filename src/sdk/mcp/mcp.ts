import { requireEnvironmentSecrets } from '../tools/environment-secret.ts'
import { announce, listen } from '../tools/listen.ts'
import type { ServedApp } from '../tools/served-app.ts'
import { createHandler, type McpHandler } from './mcp-handler.ts'
import type { McpHandlerOptions, ServeMcpOptions } from './options.ts'
import { isLoopback, LOOPBACK_HOSTS } from './origins.ts'
import { METADATA_PATH } from './resource.ts'
import { rpcError } from './rpc-error.ts'

// Serves an app as an MCP server with the official SDK: Streamable HTTP and stdio, MCP 2025-03-26 to 2026-07-28.

/**
 * Makes a handler to mount in hono, Next.js or a Cloudflare Worker: `mcp(app, options).fetch`. Throws `TypeError` where
 * a tool needs a user or a secret and no option identifies callers.
 */
export function mcp(app: ServedApp, options: McpHandlerOptions = {}): McpHandler {
  return createHandler(app, options)
}

export interface ServedMcp {
  /** Absent on stdio. */
  readonly url?: string
  close(): Promise<void>
}

const DEFAULT_PORT = 8000

/**
 * Serves the app until `close` is called; on stdio, until the client closes its end. Throws `TypeError` where a secret
 * that a tool declares comes neither from Gatepass (`brokerSecret`) nor from the environment.
 */
export async function serveMcp(app: ServedApp, options: ServeMcpOptions = {}): Promise<ServedMcp> {
  if (options.transport === 'stdio') {
    requireEnvironmentSecrets(app)
    const { serveOnStdio } = await import('./mcp-stdio.ts')
    return serveOnStdio(app, options.user ?? (globalThis.process?.env.GATEPASS_USER || undefined))
  }
  const { host = '127.0.0.1', port = DEFAULT_PORT, path = '/mcp', ...rest } = options
  if (rest.brokerSecret === undefined) requireEnvironmentSecrets(app)
  const { allowedHosts = isLoopback(host) ? LOOPBACK_HOSTS : undefined } = options
  const handler = mcp(app, { ...rest, allowedHosts })
  const listening = await listen(
    (request) =>
      isServed(path, request)
        ? handler.fetch(request)
        : rpcError(404, -32_000, `The MCP server is at ${path}.`),
    { host, port },
  )
  const url = `${listening.url}${path}`
  announce(app.name, url)
  return {
    url,
    async close() {
      await handler.close()
      await listening.close()
    },
  }
}

/** Whether a request is for the MCP server at `path`, or for its metadata (RFC 9728). */
function isServed(path: string, request: Request): boolean {
  const { pathname } = new URL(request.url)
  return pathname === path || pathname.startsWith(METADATA_PATH)
}

export type { Caller, CallerOptions, VerifiedToken } from './caller.ts'
export type { IssuerOptions } from './issuer.ts'
export type { McpHandler } from './mcp-handler.ts'
export type { McpHandlerOptions, ServeMcpOptions } from './options.ts'
export type { OriginOptions } from './origins.ts'
