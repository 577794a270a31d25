import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  type ServerOptions,
  ServerResponse,
} from 'node:http'
import type { Duplex } from 'node:stream'
import type { ErrorCode } from '../../domain/errors.ts'
import { requestIdOf } from '../endpoint/request-id.ts'

// Limits and headers that the HTTP server itself applies to every request and every answer, before and after the routes.
// src/server.ts starts the server.

/** The request line and all headers together. */
const MAX_HEADER_BYTES = 16 * 1024
/** How long a client may take to send its headers, and the whole request with its body. */
const HEADERS_TIMEOUT_MS = 20_000
const REQUEST_TIMEOUT_MS = 60_000
/** The interval at which Node checks these timeouts. */
const TIMEOUT_CHECK_MS = 5_000

const SAFE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const
const HSTS = 'max-age=31536000'

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[]

/**
 * Returns the options of the HTTP server. Every answer carries its request id, and forbids sniffing, caching and framing
 * unless it sets these headers itself. They are added where Node writes the head, because a middleware that sets headers
 * costs several times as much.
 */
export function serverOptions(
  publicUrl: URL,
): ServerOptions<typeof IncomingMessage, typeof ServerResponse<IncomingMessage>> {
  const safe: Readonly<Record<string, string>> =
    publicUrl.protocol === 'https:'
      ? { ...SAFE_HEADERS, 'strict-transport-security': HSTS }
      : { ...SAFE_HEADERS }

  class SafeResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    #requestId: string | undefined

    /** The client's request id, or a new one. The answer, the log and the audit trail carry it. */
    get requestId(): string {
      this.#requestId ??= requestIdOf(this.req.headers['x-request-id'])
      return this.#requestId
    }

    override writeHead(status: number, ...rest: [reason?: string | Headers, headers?: Headers]): this {
      const [first, second] = rest
      const reason = typeof first === 'string' ? first : undefined
      const given = typeof first === 'string' ? second : first
      if (reason === undefined && !Array.isArray(given) && this.getHeaderNames().length === 0)
        return super.writeHead(status, { ...safe, 'x-request-id': this.requestId, ...given })
      for (const [name, value] of Object.entries(safe)) if (!this.hasHeader(name)) this.setHeader(name, value)
      this.setHeader('x-request-id', this.requestId)
      return reason === undefined ? super.writeHead(status, given) : super.writeHead(status, reason, given)
    }
  }

  return {
    ServerResponse: SafeResponse,
    // Node's default drops all but the first of some repeated headers, such as `authorization`, silently
    joinDuplicateHeaders: true,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  }
}

const UNREADABLE: Readonly<Record<string, readonly [status: string, name: ErrorCode, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'request_too_large',
    `The request line and the headers are larger than ${MAX_HEADER_BYTES / 1024} KiB together.`,
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [
    '413 Content Too Large',
    'request_too_large',
    'The chunk extensions of the body are too large.',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    'invalid_request',
    `The request was not received in time: its headers within ${HEADERS_TIMEOUT_MS / 1000} seconds, all of it within ${REQUEST_TIMEOUT_MS / 1000}.`,
  ],
}

/** Answers input that Node cannot parse as a request, so that the client learns the reason. For the event `clientError`. */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex & HasAnswer): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket._httpMessage?.headersSent)
    return void socket.destroy()
  const [status, name, message] = UNREADABLE[error.code ?? ''] ?? [
    '400 Bad Request',
    'invalid_request',
    'This is not a valid HTTP request.',
  ]
  const body = JSON.stringify({ name, message })
  const headers = { ...SAFE_HEADERS, 'content-type': 'application/json', connection: 'close' }
  const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}\r\n`)
  socket.end(
    `HTTP/1.1 ${status}\r\n${lines.join('')}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

/** The response that the socket is sending, if any. No other response may follow one that is partly sent. */
interface HasAnswer {
  readonly _httpMessage?: { readonly headersSent: boolean } | null
}
