import {
  isJSONRPCRequest,
  isJsonContentType,
  type JSONRPCMessage,
  type JSONRPCRequest,
  PerRequestHTTPServerTransport,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { createBacklog } from './backlog.ts'
import type { CallParts } from './call-tool.ts'
import type { Exchange } from './exchange.ts'
import { createPlaceholders } from './placeholders.ts'
import { forwardResponse } from './response-stream.ts'
import { CLASSIFICATIONS, connectSharedServer, type PendingCall, type SharedServer } from './shared-server.ts'
import type { ToolList } from './tool-lists.ts'
import { isLegacyVersion, MODERN_VERSION } from './versions.ts'

// Plain tool calls, which a shared server answers. What is not plain, or is refused before the handler runs, is left to
// the SDK's `createMcpHandler`, which has the response to each fault. `test/mcp/plain-calls.test.ts` sends the same calls
// both ways.

export interface PlainCalls {
  /** Answers a plain `tools/call`; `undefined` for any other message. */
  answer(exchange: Exchange, message: unknown, list: ToolList): Promise<Response | undefined>
}

export async function createPlainCalls(parts: CallParts): Promise<PlainCalls> {
  const modern = await connectSharedServer(parts, 'modern')
  const legacy = await connectSharedServer(parts, 'legacy')
  return {
    async answer(exchange, message, list) {
      const { headers } = exchange.request
      if (!isCall(message) || !isJsonContentType(headers.get('content-type'))) return undefined
      if (isPlainModern(headers, message.params))
        return answerModern({ exchange, list, request: message }, modern)
      if (isPlainLegacy(headers, message.params))
        return answerLegacy({ exchange, list, request: message }, legacy)
      return undefined
    },
  }
}

type Call = JSONRPCRequest & { readonly params: JsonRecord & { readonly _meta?: JsonRecord } }

function isCall(message: unknown): message is Call {
  if (!isRecord(message) || message.method !== 'tools/call' || !isRecord(message.params)) return false
  const { _meta: meta } = message.params
  return (meta === undefined || isRecord(meta)) && isJSONRPCRequest(message)
}

/** Whether the headers repeat the body without encoding, and no member is of a form that the SDK refuses with its own status. */
function isPlainModern(headers: Headers, { name, _meta: meta }: Call['params']): boolean {
  return (
    meta?.[PROTOCOL_VERSION_META_KEY] === MODERN_VERSION &&
    headers.get('mcp-protocol-version') === MODERN_VERSION &&
    headers.get('mcp-method') === 'tools/call' &&
    typeof name === 'string' &&
    headers.get('mcp-name') === name &&
    !name.startsWith('=?') // the beginning of a value in Base64
  )
}

type Asked = Pick<PendingCall, 'exchange' | 'list' | 'request'>

async function answerModern(asked: Asked, server: SharedServer): Promise<Response | undefined> {
  const { exchange, request } = asked
  const backlog = createBacklog()
  const transport = new PerRequestHTTPServerTransport({ classification: CLASSIFICATIONS.modern })
  const call: PendingCall = {
    ...asked,
    backlog,
    send: (message, options) => transport.send(message, options),
  }
  let isTaken = false
  transport.onmessage = (_, extra) => {
    isTaken = server.deliver(call, extra)
  }
  await transport.start()
  const response = transport.handleMessage(request, { request: exchange.request }).catch(closed)
  if (isTaken)
    return forwardResponse(await response, { placeholders: createPlaceholders(), taken: backlog.taken })
  await transport.close()
  return undefined
}

/** The SDK rejects when the client has closed the connection. Only metrics see this response. */
function closed(): Response {
  return new Response(null, { status: 499 })
}

/** Whether the headers are those of a later request of a session, and `_meta` has nothing of a newer revision. */
function isPlainLegacy(headers: Headers, { _meta: meta = {} }: Call['params']): boolean {
  const accept = headers.get('accept') ?? ''
  return (
    isLegacyVersion(headers.get('mcp-protocol-version')) &&
    accept.includes('application/json') &&
    accept.includes('text/event-stream') &&
    !Object.keys(meta).some((key) => key.startsWith('io.modelcontextprotocol/'))
  )
}

const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  connection: 'keep-alive',
  'x-accel-buffering': 'no', // nginx would buffer events
}
/** A result that is ready by then is written with the headers, without a stream of its own. */
const OPEN_AFTER_MS = 1_000

/** Clients of 2025 get a stream of events, in which most calls have only the result. */
function answerLegacy(asked: Asked, server: SharedServer): Promise<Response | undefined> {
  const { exchange, request } = asked
  const { promise, resolve, reject } = Promise.withResolvers<Response | undefined>()
  const backlog = createBacklog()
  let stream: Promise<PerRequestHTTPServerTransport> | undefined
  const open = () => (stream ??= openStream())
  const timer = setTimeout(open, OPEN_AFTER_MS)

  async function openStream(): Promise<PerRequestHTTPServerTransport> {
    clearTimeout(timer)
    const transport = new PerRequestHTTPServerTransport({
      classification: CLASSIFICATIONS.legacy,
      responseMode: 'sse',
    })
    transport.onmessage = () => {} // the server has the message already
    await transport.start()
    const options = { placeholders: createPlaceholders(), taken: backlog.taken }
    transport
      .handleMessage(request)
      .then((response) => forwardResponse(response, options))
      .then(resolve, reject)
    return transport
  }

  async function send(message: JSONRPCMessage, options: Parameters<PendingCall['send']>[1]): Promise<void> {
    if (stream !== undefined || 'method' in message) return (await open()).send(message, options)
    clearTimeout(timer)
    const event = `event: message\ndata: ${JSON.stringify(message)}\n\n`
    resolve(new Response(event, { headers: STREAM_HEADERS }))
  }

  const isTaken = server.deliver({ ...asked, backlog, send }, { request: exchange.request })
  if (!isTaken) {
    clearTimeout(timer)
    resolve(undefined)
  }
  return promise
}
