import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { type ApiKey, userFor } from '../../domain/api-key.ts'
import { BrokerError } from '../../domain/errors.ts'
import { splitScope } from '../../domain/scopes.ts'
import { decodeStream } from '../../egress/content-coding.ts'
import { type ForwardOutcome, forwardRequest } from '../../flows/forward-request.ts'
import { requiredAuthorizationSchema } from '../../operations/dialects/execution-schemas.ts'
import { errorSchema } from '../../operations/schemas/error-schema.ts'
import { idText, userIdText } from '../../operations/schemas/fields.ts'
import { checked, parse } from '../../parsing/parse.ts'
import { inContext } from '../../services/request-context.ts'
import { authorizationRequired } from '../../tools/run/tool-tokens.ts'
import { createStreamScrubber } from '../../tools/scrub/scrub-stream.ts'
import { bytesHoldNoSecret } from '../../tools/scrub/secret-needles.ts'
import type { SharedByEndpoints } from '../endpoint/endpoint.ts'
import { clientClosed, statusOf } from '../endpoint/errors.ts'
import { type ObservedRequest, routesOf } from '../endpoint/observed-request.ts'
import { requestHeader, requestHeaders } from '../endpoint/request-header.ts'
import { requestId } from '../endpoint/request-id.ts'
import { inRequestSpan } from '../endpoint/request-span.ts'
import { utf8Header } from '../endpoint/utf8-header.ts'
import { isText, readProxiedBody, scrubbedBody } from './proxy-body.ts'
import { headersToAnswer, headersToSend } from './proxy-headers.ts'

const PATH = '/proxy/{provider}/{path}'
const routeOf = routesOf(PATH)
/** The most concurrent requests of one key: all keys share the slots for a host, so no key may use all of them. */
const MAX_PER_KEY = 128
const WITHOUT_BODY = new Set([204, 205, 304])

const headersSchema = z.object({
  'x-gatepass-user': userIdText.meta({ description: 'The user whose token is put in', example: 'ada' }),
  'x-gatepass-account': z.string().min(1).max(300).optional().meta({
    description: "A connection's id, or an account's id or name; absent: the default account",
  }),
  'x-gatepass-scopes': z.string().max(2000).optional().meta({
    description: 'The scopes that the request needs, separated by spaces; absent: any grant suffices',
  }),
  'x-gatepass-base-url': z.string().max(1000).optional().meta({
    description: "A base URL in place of the provider's own; its host must be one of the provider's API",
  }),
})

const headersCheck = checked(headersSchema, 'the headers')
const providerCheck = checked(idText, 'the path')

const consentSchema = errorSchema
  .extend({ requires_authorization: requiredAuthorizationSchema.optional() })
  .openapi('ProxyError')

/**
 * Adds `ANY /proxy/{provider}/{path}`, which forwards a request to the provider's API with the user's token. The
 * caller never sees the token. Refusals of Gatepass carry `x-gatepass-error`; every other answer is the API's own.
 */
export function addProxy(
  app: OpenAPIHono,
  broker: Broker,
  { authenticate, charge, onAnswered }: Required<SharedByEndpoints>,
): void {
  document(app)
  const running = new Map<string, number>()
  broker.metrics.gauge('gatepass_proxy_requests_running', 'Requests that are being forwarded', () =>
    [...running.values()].reduce((sum, count) => sum + count, 0),
  )

  /** Takes a slot of the key. Returns the function that releases it; further calls do nothing. Throws `rate_limited`. */
  function acquireSlot({ id }: ApiKey): () => void {
    const others = running.get(id) ?? 0
    if (others >= MAX_PER_KEY)
      throw new BrokerError(
        'rate_limited',
        `This key has ${others} requests in progress. Wait for some to end.`,
        {
          retryAfter: 1,
        },
      )
    running.set(id, others + 1)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const left = (running.get(id) ?? 1) - 1
      if (left > 0) running.set(id, left)
      else running.delete(id)
    }
  }

  async function answer(c: Context, request: ObservedRequest): Promise<Response> {
    const caller = await authenticate(c, 'caller')
    request.caller = caller
    charge(caller)
    refuseMethod(c)
    const release = acquireSlot(caller)
    try {
      const actor = { kind: 'api_key', id: caller.id } as const
      let approvalId: string | undefined
      const context = {
        actor,
        apiKey: caller,
        purpose: 'proxy',
        requestId: requestId(c),
        onApproval: (id: string) => {
          approvalId = id
          c.header('x-gatepass-approval', id)
        },
        ...(caller.userId !== undefined && { onlyUser: caller.userId }),
      }
      const outcome = await inContext(context, () =>
        inRequestSpan(broker.tracing, routeOf(c.req.method), request, async () =>
          forwardRequest(broker, await readRequest(c, caller)),
        ),
      )
      if (outcome.outcome === 'answered') {
        const response = answerOf(c, outcome, release)
        if (approvalId !== undefined) response.headers.set('x-gatepass-approval', approvalId)
        return response
      }
      const { authorization } = await authorizationRequired(broker, outcome.authorization)
      const { id, url, scopes, status } = authorization
      release()
      c.header('x-gatepass-error', 'authorization_required')
      return c.json(
        {
          name: 'authorization_required',
          message: `The user must approve this first, at ${url}`,
          requires_authorization: { id, url, scopes, status },
        },
        403,
      )
    } catch (error) {
      release()
      if (c.req.raw.signal.aborted) return clientClosed()
      throw error
    }
  }

  app.all('/proxy/:provider/*', async (c) => {
    const begun = performance.now()
    const request: ObservedRequest = { c, begun }
    const done = (status: number) =>
      onAnswered(routeOf(c.req.method), status, performance.now() - begun, request)
    try {
      const response = await answer(c, request)
      done(response.status)
      return response
    } catch (error) {
      done(statusOf(c, error))
      // the rest of the body is not read (RFC 9112 section 9.3)
      if (error instanceof BrokerError && error.code === 'request_too_large') c.header('connection', 'close')
      c.header('x-gatepass-error', error instanceof BrokerError ? error.code : 'internal_error')
      throw error
    }
  })
}

function refuseMethod(c: Context): void {
  if (c.req.method === 'CONNECT' || c.req.method === 'TRACE') {
    c.header('allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS')
    throw new BrokerError('method_not_allowed', `${c.req.method} is not forwarded.`)
  }
  if (/\bwebsocket\b/i.test(requestHeader(c, 'upgrade') ?? ''))
    throw new BrokerError('not_implemented', 'WebSockets are not forwarded.')
}

async function readRequest(c: Context, caller: ApiKey) {
  const headers = requestHeaders(c)
  const named = ownHeaders(headers)
  const userId = userFor(caller, named['x-gatepass-user'])
  const about = parse(headersCheck, { ...named, ...(userId !== undefined && { 'x-gatepass-user': userId }) })
  const { provider, path } = placeOf(c)
  const account = about['x-gatepass-account']
  const baseUrl = about['x-gatepass-base-url']
  const body = await readProxiedBody(c)
  return {
    projectId: caller.projectId,
    userId: about['x-gatepass-user'],
    provider,
    ...(account !== undefined && { account }),
    scopes: splitScope(about['x-gatepass-scopes'] ?? ''),
    ...(baseUrl !== undefined && { baseUrl }),
    method: c.req.method,
    path,
    headers: headersToSend(headers, c.req.method),
    ...(body !== undefined && { body }),
    signal: c.req.raw.signal,
  }
}

/** The `x-gatepass-…` headers, which are for this server. */
function ownHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const own: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith('x-gatepass-')) own[name] = utf8Header(value)
  return own
}

/**
 * Reads the provider and the path from the request line, because parsing a URL normalizes dot segments and escapes.
 * The request target may be in absolute form (RFC 9112 section 3.2.2). It must not name another host than `Host`,
 * because two servers could then read the request differently.
 */
function placeOf(c: Context): { readonly provider: string; readonly path: string } {
  const target: string = c.env?.incoming?.url ?? c.req.url
  const [, host, encoded = '', path = ''] =
    /^(?:https?:\/\/([^/?#]*))?\/proxy\/([^/?#]+)(.*)$/s.exec(target) ?? []
  const named = requestHeader(c, 'host') ?? host
  if (host !== undefined && host !== named)
    throw new BrokerError('invalid_request', 'The request line names a different host from the Host header.')
  try {
    return { provider: parse(providerCheck, decodeURIComponent(encoded)), path }
  } catch (error) {
    if (error instanceof BrokerError) throw error
    throw new BrokerError('invalid_request', 'The path is not percent-encoded correctly.')
  }
}

function answerOf(
  c: Context,
  { answer, target, entry, tokens, isWorthRepeating }: Extract<ForwardOutcome, { outcome: 'answered' }>,
  release: () => void,
): Response {
  const { status } = answer
  const isBodiless = c.req.method === 'HEAD' || WITHOUT_BODY.has(status)
  // a part of a compressed body cannot be decompressed
  const isCoded = !isBodiless && status !== 206 && answer.headers['content-encoding'] !== undefined
  const coded = isCoded ? decodeStream(answer) : undefined
  const { headers } = coded ?? answer
  const fields = {
    ...headersToAnswer(headers, {
      from: () => `${target.url.origin}${target.path}`,
      provider: entry.provider,
      tokens,
    }),
    ...(isWorthRepeating && { 'x-gatepass-token': 'replaced' }),
  }
  if (isBodiless || status > 599) {
    release()
    const unread = (coded ?? answer).body // the body of a coded answer is locked by its decoder
    unread.cancel().catch(() => undefined) // the body is not needed, so a failure to cancel it does not matter
    if (status > 599)
      throw new BrokerError(
        'provider_unavailable',
        `${target.url.host} answered with a status that HTTP does not have.`,
      )
    return new Response(null, { status, headers: fields })
  }
  const options = { isText: isText(headers['content-type']) }
  // a short answer arrives together with its head, and needs no stream
  const whole = coded === undefined ? answer.received?.takeWhole() : undefined
  if (whole !== undefined && bytesHoldNoSecret(whole, tokens, options)) {
    release()
    return new Response(whole as Uint8Array<ArrayBuffer>, { status, headers: fields }) // not a SharedArrayBuffer
  }
  const body = whole === undefined ? (coded ?? answer).body : streamOf(whole)
  const scrubber = createStreamScrubber(tokens, options)
  return new Response(scrubbedBody(c, body, scrubber, release), { status, headers: fields })
}

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      if (bytes.length > 0) controller.enqueue(bytes)
      controller.close()
    },
  })
}

function document(app: OpenAPIHono): void {
  const json = (schema: z.ZodType) => ({ content: { 'application/json': { schema } } })
  for (const method of ['get', 'post', 'put', 'patch', 'delete'] as const)
    app.openAPIRegistry.registerPath(
      createRoute({
        operationId: `proxy${method.charAt(0).toUpperCase()}${method.slice(1)}`,
        method,
        path: PATH,
        tags: ['Proxy'],
        summary: "A request to a provider's API with the user's token put in",
        description:
          'Takes any method and any body; `path` may have slashes, and a query is forwarded. Requests and answers are streamed. Refusals of Gatepass itself carry `x-gatepass-error`. docs/guides/proxy.md says more.\n\nNeeds a key of the role `caller` or above.',
        security: [{ apiKey: [] }],
        request: {
          params: z.object({ provider: idText, path: z.string() }),
          headers: headersSchema,
        },
        responses: {
          200: { description: "The API's own answer, with any status", content: { '*/*': {} } },
          403: { description: 'The user must approve first, or a policy refuses', ...json(consentSchema) },
          default: { description: 'A refusal', ...json(errorSchema) },
        },
      }),
    )
}
