import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { isToolsetId } from '../../domain/shown-tools.ts'
import { limitBody, MAX_API_BODY_BYTES } from '../../http/endpoint/body-limit.ts'
import type { SharedByEndpoints } from '../../http/endpoint/endpoint.ts'
import { type ObservedRequest, routesOf } from '../../http/endpoint/observed-request.ts'
import type { Charge } from '../../http/endpoint/rate-limit.ts'
import { requestId } from '../../http/endpoint/request-id.ts'
import { inRequestSpan } from '../../http/endpoint/request-span.ts'
import { setupPath } from '../../http/mcp-setup/mcp-setup.ts'
import { rpcError } from '../../sdk/mcp/rpc-error.ts'
import { inContext } from '../../services/request-context.ts'
import { rateOf } from '../callers/authenticate.ts'
import { addCallers, type Callers } from '../callers/callers.ts'
import { contextOf } from '../callers/principal.ts'
import { type McpResource, mcpResource } from '../callers/resource.ts'
import type { OwnAuthorizationServer } from '../callers/token.ts'
import { createSettledLinks } from '../consent/settled-links.ts'
import { createSuspendedCalls } from '../suspended/suspended-calls.ts'
import type { CallParts } from './call-tool.ts'
import { listChangeSource, openEventStream, settledLinkSource } from './event-streams.ts'
import { watchLists } from './list-changes.ts'
import { createRunningCalls } from './running-calls.ts'
import { createSessions } from './session.ts'
import { createStreamSlots } from './stream-slots.ts'
import { createToolLists } from './tool-lists.ts'

/** `/mcp` and `/mcp/{toolset}`: the tools of a project for MCP clients. */
export interface McpEndpoint {
  mount(app: OpenAPIHono, shared: SharedByEndpoints): void
  /** Ends all streams, and waits for running calls for at most `ms`, then aborts them. */
  close(ms: number): Promise<void>
}

export function createMcpEndpoint(broker: Broker, authorizationServer?: OwnAuthorizationServer): McpEndpoint {
  const lists = createToolLists(broker)
  const changes = watchLists(broker.store, lists)
  const settled = createSettledLinks(broker)
  const slots = createStreamSlots()
  const sources = [listChangeSource(changes), settledLinkSource(settled)]
  const calls = createRunningCalls()
  const sessions = createSessions(broker)
  const suspended = createSuspendedCalls(broker)
  let serving: ReturnType<typeof loadServing> | undefined
  broker.metrics.gauge('gatepass_mcp_calls_running', 'Tool calls of MCP clients under way', () => calls.count)
  broker.metrics.gauge('gatepass_mcp_streams_open', 'Streams of MCP clients that are open', () => slots.count)

  async function answer(
    c: Context,
    { callers, charge, routeOf }: Answering,
    request: ObservedRequest,
    resource: McpResource,
  ): Promise<Response> {
    const toolsetId = c.req.param('toolset')
    // the id becomes part of response headers
    if (toolsetId !== undefined && !isToolsetId(toolsetId))
      throw new BrokerError('not_found', 'There is no such toolset.')
    const principal = await callers.authenticate(c, resource)
    if (principal.by.kind === 'api_key') request.caller = principal.by.key
    const { method } = c.req
    if (method !== 'POST' && method !== 'GET') return notAllowed('POST, GET')
    const authenticated = {
      principal,
      request: c.req.raw,
      requestId: requestId(c),
      isAuthorized: () => callers.authenticate(c, resource).then(() => true, isUnrelatedToCredential),
      toolsetId,
    }
    const context = contextOf(principal, { purpose: 'mcp', requestId: authenticated.requestId })
    return inContext(context, () => inRequestSpan(broker.tracing, routeOf(method), request, work))

    async function work(): Promise<Response> {
      await limitBody(c, MAX_API_BODY_BYTES)
      serving ??= loadServing({ broker, lists, calls, suspended }).catch((error: unknown) => {
        serving = undefined // the next message loads it again
        throw error
      })
      const { serve, consent, plain, readLegacyClient, readMessage } = await serving
      const message = method === 'POST' ? readMessage(await c.req.text()) : undefined
      if (message instanceof Response) return message
      const legacy = readLegacyClient(c, message, sessions, principal)
      if (legacy instanceof Response) return legacy
      chargeBatch(message, () => charge(rateOf(principal, broker.settings)))
      const exchange = { ...authenticated, legacy }
      if (method === 'POST')
        return serve(
          { broker, lists, calls, consent, suspended, sessions, changes, slots, plain },
          exchange,
          message,
        )
      if (legacy.sessionId === undefined) return notAllowed('POST')
      await lists.listFor(exchange) // refuses a toolset that does not exist
      return openEventStream(exchange, slots, sources)
    }
  }

  function mount(app: OpenAPIHono, shared: SharedByEndpoints): void {
    const callers = addCallers(app, broker, shared, authorizationServer)
    const { charge, onAnswered } = shared
    for (const path of ['/mcp', '/mcp/:toolset']) {
      const routeOf = routesOf(path.replace(':toolset', '{toolset}'))
      app.all(path, async (c) => {
        if (isOpenedByBrowser(c)) return c.redirect(setupPath(c.req.param('toolset')), 303)
        const begun = performance.now()
        const request: ObservedRequest = { c, begun }
        const resource = mcpResource(broker.settings.publicUrl, c.req.param('toolset'))
        const response = await answer(c, { callers, charge, routeOf }, request, resource).catch(
          (error: unknown) => callers.refuse(c, error, resource),
        )
        onAnswered?.(routeOf(c.req.method), response.status, performance.now() - begun, request)
        return response
      })
    }
  }

  return {
    mount,
    async close(ms) {
      slots.close()
      changes.close()
      settled.close()
      const deadline = setTimeout(calls.abort, ms)
      await calls.whenIdle()
      clearTimeout(deadline)
      suspended.close()
    },
  }
}

/** Shared by the requests of one path. */
interface Answering {
  readonly callers: Callers
  readonly charge: Charge
  readonly routeOf: ReturnType<typeof routesOf>
}

/** Loaded with the first message: the official SDK takes 30 MB of memory and a tenth of the startup time. */
async function loadServing(parts: Omit<CallParts, 'consent'>) {
  const [{ serve }, { createPlainCalls }, { createConsentRounds }, legacyRequest] = await Promise.all([
    import('./serve.ts'),
    import('./plain-calls.ts'),
    import('../consent/consent-rounds.ts'),
    import('./legacy-request.ts'),
  ])
  const consent = createConsentRounds(parts.broker)
  return { serve, consent, plain: await createPlainCalls({ ...parts, consent }), ...legacyRequest }
}

/** Whether a refusal does not concern the credential, so that the stream stays open. */
function isUnrelatedToCredential(error: unknown): boolean {
  return (
    error instanceof BrokerError &&
    ['rate_limited', 'provider_unavailable', 'store_unavailable'].includes(error.code)
  )
}

/** Charges for each message of a batch but the first, which was charged with the request. */
function chargeBatch(message: unknown, charge: () => void): void {
  if (!Array.isArray(message)) return
  for (const _ of message.slice(1)) charge()
}

/** Whether a person opened the address in a browser. The person is sent to the page that sets up a client. */
function isOpenedByBrowser({ req }: Context): boolean {
  const isPage = req.header('accept')?.includes('text/html') === true
  return req.method === 'GET' && isPage && req.header('authorization') === undefined
}

function notAllowed(allow: string): Response {
  return rpcError(405, -32_000, 'This method is not served here.', { allow })
}
