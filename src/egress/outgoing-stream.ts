import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { beginExchange, type Exchange, type Pool, toHeaders } from './exchange.ts'
import type { OutgoingStreamRequest, OutgoingStreamResponse } from './outgoing-request.ts'

const DEADLINE_MS = 10_000
const IDLE_MS = 60_000
/** The size of the buffers between the reader and the socket. */
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

  const wait = (ms: number) => {
    clearTimeout(timer)
    timer = Number.isFinite(ms) ? setTimeout(() => exchange.giveUp(), ms) : undefined
  }
  const settle = () => {
    isClosed = true
    clearTimeout(timer)
    timer = undefined
    if (upload instanceof Readable) upload.destroy()
  }
  const exchange: Exchange = beginExchange(pool, url, {
    path,
    method,
    headers,
    signal,
    body: upload,
    maxBytes,
    redirects,
    onProgress: () => timer?.refresh(),
    onClosed: settle,
  })
  if (upload instanceof Readable)
    upload.on('error', (error) => {
      uploadError = error
      exchange.giveUp()
    })
  wait(deadlineMs)
  try {
    const { statusCode, headers, body } = await exchange.response
    if (!isClosed) wait(idleMs)
    return { status: statusCode, headers: toHeaders(headers), body: toWebStream(body) }
  } catch (error) {
    settle()
    throw uploadError ?? error
  }

  function toWebStream(body: Readable): ReadableStream<Uint8Array> {
    body.on('error', () => undefined) // the reader gets it, if there is one
    const pieces: AsyncIterator<Buffer> = body[Symbol.asyncIterator]()
    return new ReadableStream(
      {
        async pull(controller) {
          timer?.refresh()
          try {
            const { value, done } = await pieces.next()
            if (done) return controller.close()
            // joined with all that is buffered: a server may send every byte as a chunk of its own
            const rest: Buffer | null = body.readableLength > 0 ? body.read(body.readableLength) : null
            controller.enqueue(rest === null ? value : Buffer.concat([value, rest]))
          } catch (error) {
            throw uploadError ?? exchange.toError(error)
          }
        },
        cancel: () => void body.destroy(),
      },
      { highWaterMark: 0 },
    )
  }
}

function toUpload(body: OutgoingStreamRequest['body']): string | Uint8Array | Readable | undefined {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return body
  // Node and the DOM have different types for the same class
  if (body instanceof ReadableStream) return Readable.fromWeb(body as unknown as NodeReadableStream)
  return Readable.from(body, { objectMode: false, highWaterMark: BUFFER_BYTES })
}
