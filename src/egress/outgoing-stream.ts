import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { Exchange, type Pool } from './exchange.ts'
import type { OutgoingError } from './outgoing-error.ts'
import type { OutgoingStreamRequest, OutgoingStreamResponse } from './outgoing-request.ts'
import { ReceivedBody } from './received-body.ts'

const DEADLINE_MS = 10_000
const IDLE_MS = 60_000
/** The size of the buffer between the request's body and the socket. */
const BUFFER_BYTES = 64 * 1024

/**
 * Resolves with the response's head; its body is read from the socket as the reader reads it. The request's body is
 * likewise read only as fast as the server takes it.
 */
export async function openStream(
  pool: Pool,
  url: URL,
  request: OutgoingStreamRequest & { readonly headers: Readonly<Record<string, string>> },
): Promise<OutgoingStreamResponse> {
  const { deadlineMs = DEADLINE_MS, idleMs = IDLE_MS, redirects = 'refuse' } = request
  const { path, method, headers, signal, maxBytes = Number.POSITIVE_INFINITY } = request
  const upload = toUpload(request.body)
  let uploadError: Error | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const restartTimer = (ms: number) => {
    clearTimeout(timer)
    timer = Number.isFinite(ms) ? setTimeout(exchange.giveUp, ms) : undefined
  }
  const settle = () => {
    isClosed = true
    clearTimeout(timer)
    timer = undefined
    if (upload instanceof Readable) upload.destroy()
  }
  const body = new ReceivedBody({
    onRead: () => timer?.refresh(),
    pause: () => exchange.pause(),
    resume: () => exchange.resume(),
    cancel: () => exchange.cancel(),
  })
  const { promise: response, resolve, reject } = Promise.withResolvers<OutgoingStreamResponse>()
  const exchange = new Exchange(
    pool,
    url,
    { path, method, headers, signal, body: upload, maxBytes, redirects },
    {
      onHead(status, headers) {
        resolve(toResponse(status, headers, body))
      },
      onData: (chunk) => body.push(chunk),
      onEnd: () => body.end(),
      onError(error: OutgoingError) {
        const cause = uploadError ?? error
        reject(cause)
        body.fail(cause)
      },
      onProgress: () => timer?.refresh(),
      onClosed: settle,
    },
  )
  if (upload instanceof Readable)
    upload.on('error', (error) => {
      uploadError = error
      exchange.giveUp()
    })
  restartTimer(deadlineMs)
  exchange.begin()
  try {
    const answered = await response
    if (!isClosed) restartTimer(idleMs)
    return answered
  } catch (error) {
    settle()
    throw error
  }
}

/** Makes the web stream only when `body` is read: `received` costs less. */
function toResponse(
  status: number,
  headers: Readonly<Record<string, string>>,
  received: ReceivedBody,
): OutgoingStreamResponse {
  let stream: ReadableStream<Uint8Array> | undefined
  return {
    status,
    headers,
    received,
    get body() {
      stream ??= received.toStream()
      return stream
    },
  }
}

function toUpload(body: OutgoingStreamRequest['body']): string | Uint8Array | Readable | undefined {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return body
  // Node and the DOM have different types for the same class
  if (body instanceof ReadableStream) return Readable.fromWeb(body as unknown as NodeReadableStream)
  return Readable.from(body, { objectMode: false, highWaterMark: BUFFER_BYTES })
}
