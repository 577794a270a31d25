import { Readable } from 'node:stream'
import type { Dispatcher } from './guarded-agent.ts'
import type { HostLimiter, HostSlot } from './host-limiter.ts'
import { codeOf, OutgoingError, type OutgoingErrorKind } from './outgoing-error.ts'

// One request and its response. undici does the HTTP, and an `Exchange` is the handler of its events: it refuses redirects
// and large bodies, and records whether the request was sent. undici's own `request` is not used, because the stream, the
// abort signal and the promises that it makes for each request cost more than the HTTP.

/** A pool of connections, and the limit of requests that use it. */
export interface Pool {
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
  /** The limit for the response's body, as received. */
  readonly maxBytes: number
  readonly redirects: 'answer' | 'refuse'
}

/** The events of an exchange: `onHead`, `onData` and `onEnd`; after a failure `onError` replaces those that are still to come. */
export interface ExchangeEvents {
  /** Names in lower case; repeated fields are joined by a comma. */
  onHead(status: number, headers: Record<string, string>): void
  onData(chunk: Uint8Array): void
  onEnd(): void
  onError(error: OutgoingError): void
  /** A piece of either body has been transferred. */
  onProgress?(): void
  /** The exchange holds its slot and socket no longer, after success or failure. Called exactly once. */
  onClosed?(): void
}

export class Exchange implements Dispatcher.DispatchHandler {
  readonly #pool: Pool
  readonly #url: URL
  readonly #request: ExchangeRequest
  readonly #events: ExchangeEvents
  #slot: HostSlot | undefined
  #controller: Dispatcher.DispatchController | undefined
  /** The request's body, which first asks `isStillWanted`. */
  #held: AsyncIterable<Buffer> | undefined
  #isDispatched = false
  #isAborted = false
  /** `onEnd` or `onError` was called. */
  #isOver = false
  #isClosed = false
  /** Whether a byte of the request may have reached the server. */
  #requestSent = false
  #received = 0

  constructor(pool: Pool, url: URL, request: ExchangeRequest, events: ExchangeEvents) {
    this.#pool = pool
    this.#url = url
    this.#request = request
    this.#events = events
  }

  /** Starts the exchange; to be called once. Events may already occur during the call. */
  begin(): void {
    const { signal } = this.#request
    signal?.addEventListener('abort', this.giveUp)
    if (signal?.aborted) {
      this.giveUp()
      return
    }
    const { promise: taken, resolve } = Promise.withResolvers<void>()
    this.#slot = this.#pool.limiter.acquire(this.#url.origin, resolve)
    if (this.#slot === undefined) this.#fail(this.#fault('busy'))
    else if (this.#slot.isTaken) this.#onSlot()
    // the request that releases its slot calls `resolve`; through the promise this one continues in its own request context
    else void taken.then(() => this.#onSlot())
  }

  /** Ends the exchange as `timeout`. Without effect after its end. */
  readonly giveUp = (): void => {
    if (this.#isAborted || this.#isClosed) return
    this.#isAborted = true
    const error = this.#fault('timeout')
    // undici does not end a request before its connection is open, so the exchange fails first
    if (!this.#isOver) this.#fail(error)
    this.#controller?.abort(error)
  }

  pause(): void {
    this.#controller?.pause()
  }

  resume(): void {
    this.#controller?.resume()
  }

  /** Ends an exchange whose response is not wanted any more, without an event. */
  cancel(): void {
    this.#isOver = true
    this.giveUp()
  }

  #onSlot(): void {
    const { isStillWanted, body } = this.#request
    if (this.#isOver) return
    if (isStillWanted === undefined || isBytes(body)) {
      this.#dispatch()
      return
    }
    isStillWanted()
      .catch(() => false)
      .then((isWanted) => {
        if (this.#isOver) return
        if (isWanted) this.#dispatch()
        else this.#fail(this.#fault('given_up'))
      })
  }

  #dispatch(): void {
    const { path, method = 'GET', headers, body, isStillWanted } = this.#request
    const held = isStillWanted !== undefined && isBytes(body) ? Buffer.from(body) : undefined
    if (held && isStillWanted) this.#held = this.#sentIfWanted(held, isStillWanted)
    this.#isDispatched = true
    this.#pool.dispatcher.dispatch(
      {
        origin: this.#url.origin,
        path: path ?? this.#url.pathname + this.#url.search,
        method,
        headers: held ? { ...headers, 'content-length': String(held.byteLength) } : headers,
        // unlike its type, undici takes any iterable, which costs less than a stream
        body: (this.#held as Readable | undefined) ?? body ?? null,
      },
      this,
    )
  }

  /** Asks right before the first byte: undici writes the head together with the body's first piece. */
  async *#sentIfWanted(piece: Buffer, isWanted: () => Promise<boolean>): AsyncGenerator<Buffer> {
    if (!(await isWanted().catch(() => false))) throw this.#fault('given_up')
    if (this.#isAborted) throw this.#fault('timeout')
    this.#requestSent = true
    yield piece
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isAborted) controller.abort(this.#fault('timeout'))
    else if (this.#held === undefined) this.#requestSent = true
  }

  onBodySent(): void {
    this.#events.onProgress?.()
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    const { maxBytes, method } = this.#request
    this.#requestSent = true
    // undici ends the request with an error that its handler throws
    if (status >= 300 && status < 400 && isRefusedRedirect(status, this.#request))
      throw this.#fault('redirected')
    if (Number(headers['content-length']) > maxBytes && method !== 'HEAD') throw this.#fault('too_large')
    if (status < 200 || this.#isOver) return
    this.#events.onProgress?.()
    this.#events.onHead(status, toHeaders(headers))
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Uint8Array): void {
    const { maxBytes } = this.#request
    this.#received += chunk.length
    if (this.#received > maxBytes) throw this.#fault('too_large')
    if (this.#isOver) return
    this.#events.onProgress?.()
    this.#events.onData(chunk)
  }

  onResponseEnd(): void {
    this.#close()
    if (this.#isOver) return
    this.#isOver = true
    this.#events.onEnd()
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    const { body } = this.#request
    if (body instanceof Readable) body.on('error', () => undefined).destroy()
    this.#close()
    if (!this.#isOver) this.#fail(this.#toError(error))
  }

  #toError(error: Error): OutgoingError {
    if (error instanceof OutgoingError) return error
    const code = codeOf(error)
    return this.#fault(code === 'UND_ERR_HEADERS_OVERFLOW' ? 'too_large' : 'unreachable', code)
  }

  #fault(kind: OutgoingErrorKind, code?: string): OutgoingError {
    const more = { requestSent: this.#requestSent, ...(code !== undefined && { code }) }
    return new OutgoingError(kind, this.#url.host, more)
  }

  #fail(error: OutgoingError): void {
    this.#isOver = true
    if (!this.#isDispatched) this.#close() // otherwise when undici is done with the socket
    this.#events.onError(error)
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#request.signal?.removeEventListener('abort', this.giveUp)
    this.#slot?.release()
    this.#events.onClosed?.()
  }
}

/** A 304 that answers a conditional request leads nowhere (RFC 9110 section 15.4.5). */
function isRefusedRedirect(status: number, { redirects, headers }: ExchangeRequest): boolean {
  if (redirects === 'answer') return false
  return status !== 304 || !('if-none-match' in headers || 'if-modified-since' in headers)
}

function isBytes(body: ExchangeRequest['body']): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array
}

function toHeaders(fields: Record<string, string | string[] | undefined>): Record<string, string> {
  const headers: Record<string, string> = Object.create(null)
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    if (value !== undefined)
      headers[name.toLowerCase()] = typeof value === 'string' ? value : value.join(', ')
  }
  return headers
}
