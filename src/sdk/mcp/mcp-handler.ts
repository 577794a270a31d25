import { createMcpHandler, isLegacyRequest, legacyStatelessFallback } from '@modelcontextprotocol/server'
import type { AppChange } from '../tools/run.ts'
import type { ServedApp } from '../tools/served-app.ts'
import { type Caller, type CallerOptions, callerIdentification, identifiesCallers } from './caller.ts'
import type { IssuerOptions } from './issuer.ts'
import { legacySessions, SESSION_LIMITS, type SessionLimits } from './legacy-sessions.ts'
import { createServer } from './mcp-server.ts'
import type { McpHandlerOptions } from './options.ts'
import { LOOPBACK_HOSTS, preflight, refuseOrigin, withCors } from './origins.ts'
import { createStateCodec } from './request-state.ts'
import { bearerChallenge, METADATA_PATH, metadataUrl } from './resource.ts'
import { rpcError } from './rpc-error.ts'

/** Values that only tests set. */
export interface McpHandlerInternals {
  readonly now?: () => number
  readonly holdMs?: number
  readonly sessions?: SessionLimits
}

export interface McpHandler {
  /** Answers one request of an MCP client. Does not use `this`, so it can be passed on as a function. */
  readonly fetch: (request: Request) => Promise<Response>
  /** Ends open sessions and streams. */
  close(): Promise<void>
}

/** How long a request is held while its user approves. */
export const HOLD_MS = 45_000

/**
 * Serves an app over Streamable HTTP. Throws `TypeError` when the app needs to know its callers and no option
 * identifies them.
 */
export function createHandler(
  app: ServedApp,
  options: McpHandlerOptions,
  { now = Date.now, holdMs = HOLD_MS, sessions: limits = SESSION_LIMITS }: McpHandlerInternals = {},
): McpHandler {
  const identify = callerIdentification(options, { whyCallerNeeded: () => whyCallerNeeded(app), now })
  // a web page whose host name leads to this server is not stopped by the check of its origin, nor by a token
  const { allowedHosts = identifiesCallers(options) ? undefined : LOOPBACK_HOSTS } = options
  const shared = { app, codec: createStateCodec(options.stateSecret, now), holdMs, staysConnected: false }
  const sessions = legacySessions(shared, limits, now)
  const callers = new WeakMap<Request, Caller>()
  const callerOf = (request: Request | undefined): Caller =>
    (request && callers.get(request)) ?? { kind: 'anonymous' }
  const modern = createMcpHandler(
    ({ requestInfo }) => createServer({ ...shared, caller: callerOf(requestInfo), isModern: true }),
    { legacy: 'reject' },
  )
  const stateless = legacyStatelessFallback(({ requestInfo }) =>
    createServer({ ...shared, caller: callerOf(requestInfo), isModern: false }),
  )
  const unsubscribe = app.onChange((change) => publish(modern.notify, change))

  async function answer(request: Request): Promise<Response> {
    if (request.method === 'OPTIONS') return preflight(request)
    const url = new URL(request.url)
    const { issuer } = options
    if (issuer !== undefined && url.pathname.startsWith(METADATA_PATH)) {
      const requested = `${url.origin}${url.pathname.slice(METADATA_PATH.length)}`
      return Response.json({
        resource: audienceUrl(issuer) === undefined ? requested : issuer.audience,
        authorization_servers: [issuer.url],
      })
    }
    const caller = await identify(request).catch((error: unknown) => {
      console.error('The caller of an MCP request could not be identified:', error)
      return 'unknown' as const
    })
    if (caller === 'unknown')
      return rpcError(503, -32_000, 'This server cannot check tokens at the moment. Try again later.')
    if (caller === undefined) return unauthorized(request, url, options)
    callers.set(request, caller)
    if (!(await isLegacyRequest(request))) return modern.fetch(request)
    return (await sessions.answer(request, caller)) ?? stateless(request)
  }

  return {
    fetch: async (request) =>
      refuseOrigin(request, { ...options, allowedHosts }) ?? withCors(request, await answer(request)),
    async close() {
      unsubscribe()
      await Promise.all([modern.close(), sessions.close()])
    },
  }
}

function unauthorized(request: Request, url: URL, { issuer }: CallerOptions): Response {
  const challenge = bearerChallenge({
    error: request.headers.has('authorization') ? 'invalid_token' : undefined,
    resource_metadata: issuer && metadataUrl(audienceUrl(issuer) ?? url),
  })
  return rpcError(401, -32_000, 'This server needs a valid token.', { 'www-authenticate': challenge })
}

/**
 * Returns the audience if it is a URL: clients know this server by it, while a proxy may change the URL of a request.
 * Returns `undefined` for an audience of another form.
 */
function audienceUrl({ audience }: IssuerOptions): URL | undefined {
  return /^https?:/i.test(audience) && URL.canParse(audience) ? new URL(audience) : undefined
}

/** Returns why the tools need a caller; `undefined` if they do not. */
function whyCallerNeeded(app: ServedApp): string | undefined {
  for (const { name, options } of app.tools.list()) {
    if (options.requiresAuth !== undefined) return `${name} needs its user’s token`
    if (options.requiresSecrets !== undefined && options.requiresSecrets.length > 0)
      return `${name} uses secrets`
  }
  return undefined
}

function publish(notify: ReturnType<typeof createMcpHandler>['notify'], change: AppChange): void {
  if (typeof change === 'object') notify.resourceUpdated(change.updated)
  else if (change === 'tools') notify.toolsChanged()
  else if (change === 'prompts') notify.promptsChanged()
  else notify.resourcesChanged()
}
