import { Readable } from 'node:stream'
import type { Dispatcher } from './guarded-agent.ts'
import type { HostLimiter } from './host-limiter.ts'
import { codeOf, OutgoingError, type OutgoingErrorKind } from './outgoing-error.ts'

// One request and its response. undici does the HTTP; the interceptor `guardResponse` sees the events of each request.

/** A pool of connections, and the limit of requests that use it. */
export interface Pool {
  /** With `guardResponse`. */
  readonly dispatcher: Dispatcher
  readonly limiter: HostLimiter
}

export interface ExchangeRequest {
  /** Sent byte for byte instead of the URL's path and query. */
  readonly path?: string | undefined
  readonly method?: Dispatcher.HttpMethod | undefined
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | Readable | undefined
  readonly signal?: AbortSignal | undefined
  /** As in `OutgoingRequest`. */
  readonly isStillWanted?: (() => Promise<boolean>) | undefined
  /** Of the response's body, as received. */
  readonly maxBytes: number
  readonly redirects: 'answer' | 'refuse'
  /** A piece of either body has been transferred. */
  readonly onProgress?: () => void
  /** undici is done with the request, after success and failure; also called when nothing was sent. Called once. */
  readonly onClosed?: () => void
}

export interface Exchange {
  /** Resolves with the response's head; the body is still to be read. Rejects with `OutgoingError` alone. */
  readonly response: Promise<Dispatcher.ResponseData<unknown>>
  /** Ends the exchange as `timeout`. Without effect after its end. */
  giveUp(): void
  /** Makes an `OutgoingError` of an error that the response's body ended with. */
  toError(error: unknown): OutgoingError
}

/** What the interceptor knows of a request and records about it; undici passes it on as `opaque`. */
interface Progress {
  readonly request: ExchangeRequest
  readonly host: string
  /** The request's own body is sent only when `isStillWanted` has said so. */
  readonly isHeldBack: boolean
  /** Whether a byte of the request may have reached the server. */
  requestSent: boolean
  close(): void
}

export function beginExchange({ dispatcher, limiter }: Pool, url: URL, request: ExchangeRequest): Exchange {
  const { body, isStillWanted } = request
  const held = isStillWanted !== undefined && isBytes(body) ? Buffer.from(body) : undefined
  const abort = new AbortController()
  const { signal } = abort
  let release = () => {}
  let isClosed = false

  let isDispatched = false
  const giveUp = () => abort.abort()
  const progress: Progress = {
    request,
    host: url.host,
    isHeldBack: held !== undefined,
    requestSent: false,
    close() {
      if (isClosed) return
      isClosed = true
      request.signal?.removeEventListener('abort', giveUp)
      release()
      request.onClosed?.()
    },
  }
  const fault = (kind: OutgoingErrorKind) => new OutgoingError(kind, url.host, progress)

  /** undici writes the head together with the body's first piece, so nothing has been sent before that. */
  async function* sentIfWanted(piece: Buffer, isWanted: () => Promise<boolean>): AsyncGenerator<Buffer> {
    if (!(await isWanted().catch(() => false))) throw fault('given_up')
    signal.throwIfAborted()
    progress.requestSent = true
    yield piece
  }

  async function send(): Promise<Dispatcher.ResponseData<unknown>> {
    signal.throwIfAborted()
    const slot = limiter.acquire(url.origin, signal)
    if (slot === undefined) throw fault('busy')
    release = await slot
    if (isStillWanted !== undefined && held === undefined && !(await isStillWanted().catch(() => false)))
      throw fault('given_up')
    signal.throwIfAborted()
    isDispatched = true
    return dispatcher.request({
      origin: url.origin,
      path: request.path ?? url.pathname + url.search,
      method: request.method ?? 'GET',
      headers: held ? { ...request.headers, 'content-length': String(held.byteLength) } : request.headers,
      body: held && isStillWanted ? Readable.from(sentIfWanted(held, isStillWanted)) : (body ?? null),
      signal,
      opaque: progress,
    })
  }

  function toError(error: unknown): OutgoingError {
    if (error instanceof OutgoingError) return error
    if (signal.aborted) return fault('timeout')
    const code = codeOf(error)
    return new OutgoingError(code === 'UND_ERR_HEADERS_OVERFLOW' ? 'too_large' : 'unreachable', url.host, {
      requestSent: progress.requestSent,
      ...(code !== undefined && { code }),
    })
  }

  request.signal?.addEventListener('abort', giveUp)
  if (request.signal?.aborted) giveUp()
  const { promise: givenUp, reject } = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => reject(signal.reason))
  if (signal.aborted) reject(signal.reason)
  const sent = send().catch((error) => {
    if (!isDispatched) progress.close() // afterwards `guardResponse` does, when undici is done with the socket
    throw error
  })
  return {
    // undici does not look at the signal before the connection is open
    response: Promise.race([sent, givenUp]).catch((error) => {
      throw toError(error)
    }),
    giveUp,
    toError,
  }
}

/** The interceptor of every request: refuses redirects and large bodies, and records whether the request was sent. */
export const guardResponse: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const progress = progressOf(options)
  const { request, host } = progress
  let received = 0
  const refuse = (kind: OutgoingErrorKind) => {
    throw new OutgoingError(kind, host, { requestSent: true })
  }
  return dispatch(options, {
    onRequestStart(controller, context) {
      handler.onRequestStart?.(controller, context)
      if (!controller.aborted && !progress.isHeldBack) progress.requestSent = true
    },
    onBodySent: () => request.onProgress?.(),
    onResponseStart(controller, status, headers, message) {
      if (status >= 300 && status < 400 && isRefusedRedirect(status, request)) refuse('redirected')
      if (Number(headers['content-length']) > request.maxBytes && request.method !== 'HEAD')
        refuse('too_large')
      if (status >= 200) request.onProgress?.()
      handler.onResponseStart?.(controller, status, headers, message)
    },
    onResponseData(controller, chunk) {
      received += chunk.length
      if (received > request.maxBytes) refuse('too_large')
      request.onProgress?.()
      handler.onResponseData?.(controller, chunk)
    },
    onResponseEnd(controller, trailers) {
      progress.close()
      handler.onResponseEnd?.(controller, trailers)
    },
    onResponseError(controller, error) {
      progress.close()
      handler.onResponseError?.(controller, error)
    },
  })
}

function progressOf(options: Dispatcher.DispatchOptions): Progress {
  // undici passes on what `request` was given; its type of the options leaves `opaque` out
  return (options as Dispatcher.RequestOptions<Progress>).opaque as Progress
}

/** A 304 that answers a conditional request leads nowhere (RFC 9110 section 15.4.5). */
function isRefusedRedirect(status: number, { redirects, headers }: ExchangeRequest): boolean {
  if (redirects === 'answer') return false
  return status !== 304 || !('if-none-match' in headers || 'if-modified-since' in headers)
}

function isBytes(body: ExchangeRequest['body']): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array
}

/** Names in lower case; repeated fields are joined by a comma. */
export function toHeaders(fields: Dispatcher.ResponseData['headers']): Record<string, string> {
  const headers: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined)
      headers[name.toLowerCase()] = typeof value === 'string' ? value : value.join(', ')
  }
  return headers
}
