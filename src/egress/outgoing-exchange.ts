import { Readable } from 'node:stream'
import type { Leave, Turns } from './host-limiter.ts'
import type { Dispatcher } from './outgoing.ts'
import { codeOf, OutgoingError, type OutgoingErrorKind } from './outgoing-error.ts'

/** What is done with an answer, piece by piece. */
export interface AnswerSink {
  head(status: number, headers: Record<string, string>): void
  data(chunk: Buffer): void
  end(): void
  /** Once at most, and never after `end`. */
  failed(error: OutgoingError): void
  /** A piece of the request's body has been taken. */
  sent?(): void
}

/** One request and its answer, from the waiting for a turn to when undici has let go of it. */
export interface Exchange {
  /** To be called once; a signal that is aborted ends it before it is sent. */
  begin(): void
  /** Ends it wherever it stands. After its end it does nothing. */
  fail(kind: OutgoingErrorKind, code?: string): void
  pause(): void
  resume(): void
}

export interface ExchangeRequest {
  /** Instead of the URL's path and query. */
  readonly path?: string
  readonly method?: Dispatcher.HttpMethod
  /** In lower case; sent as they are. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | Readable
  readonly signal?: AbortSignal
  /** As in `OutgoingRequest`. */
  readonly isStillWanted?: () => Promise<boolean>
}

export function createExchange(
  dispatcher: Pick<Dispatcher, 'dispatch'>,
  turns: Turns,
  url: URL,
  request: ExchangeRequest,
  sink: AnswerSink,
): Exchange {
  let requestSent = false
  let dispatched = false
  let ended = false
  /** Ends its turn: while it waits at once, afterwards only when undici has let go of it. */
  let leave: Leave | undefined
  let failure: OutgoingError | undefined
  let controller: Dispatcher.DispatchController | undefined

  const fail = (kind: OutgoingErrorKind, code?: string) => {
    if (failure || ended) return
    failure = new OutgoingError(kind, url.host, { requestSent, ...(code ? { code } : {}) })
    request.signal?.removeEventListener('abort', giveUp)
    sink.failed(failure)
    if (!dispatched) leave?.()
    controller?.abort(failure)
  }
  const giveUp = () => fail('timeout')

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started
      if (failure) return started.abort(failure) // given up while it waited for a connection
      if (held === undefined) requestSent = true
    },
    onBodySent: () => sink.sent?.(),
    onResponseStart(_, status, fields) {
      if (status >= 200 && !failure) sink.head(status, toHeaders(fields))
    },
    onResponseData(_, chunk) {
      if (!failure) sink.data(chunk)
    },
    onResponseEnd() {
      ended = true
      request.signal?.removeEventListener('abort', giveUp)
      sink.end()
      leave?.()
    },
    onResponseError(_, error) {
      if (error instanceof OutgoingError) fail(error.kind)
      else fail(codeOf(error) === 'UND_ERR_HEADERS_OVERFLOW' ? 'too_large' : 'unreachable', codeOf(error))
      leave?.()
    },
  }
  const { isStillWanted, body } = request
  const held =
    isStillWanted !== undefined && (typeof body === 'string' || body instanceof Uint8Array)
      ? Buffer.from(body)
      : undefined

  /** undici writes the head together with the first piece of the body, so until then nothing has been sent. */
  async function* heldBack(piece: Buffer, wanted: () => Promise<boolean>): AsyncGenerator<Buffer> {
    if (!(await wanted().catch(() => false))) fail('given_up')
    if (failure) throw failure
    requestSent = true
    yield piece
  }

  const sendIfWanted = (ownLeave: Leave) => {
    if (isStillWanted === undefined || held !== undefined) return send(ownLeave)
    leave = ownLeave
    void isStillWanted()
      .catch(() => false)
      .then((wanted) => {
        if (!wanted) fail('given_up')
        if (!failure) send(ownLeave)
      })
  }
  const send = (ownLeave: Leave) => {
    dispatched = true
    leave = ownLeave
    const isHeld = held !== undefined && isStillWanted !== undefined
    try {
      dispatcher.dispatch(
        {
          origin: url.origin,
          path: request.path ?? url.pathname + url.search,
          method: request.method ?? 'GET',
          headers: isHeld
            ? { ...request.headers, 'content-length': String(held.byteLength) }
            : request.headers,
          body: isHeld ? Readable.from(heldBack(held, isStillWanted)) : (body ?? null),
        },
        handler,
      )
    } catch (error) {
      fail('unreachable', codeOf(error)) // undici refuses a header with control characters, a closed agent
      leave()
    }
  }

  return {
    begin() {
      request.signal?.addEventListener('abort', giveUp, { once: true })
      if (request.signal?.aborted) return giveUp()
      leave = turns.take(url.origin, sendIfWanted)
      if (leave === undefined) fail('busy')
    },
    fail,
    pause: () => controller?.pause(),
    resume: () => controller?.resume(),
  }
}

function toHeaders(fields: Record<string, string | string[] | undefined>): Record<string, string> {
  const headers: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined)
      headers[name.toLowerCase()] = typeof value === 'string' ? value : value.join(', ')
  }
  return headers
}
