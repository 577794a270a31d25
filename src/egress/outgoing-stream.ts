import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import type { Turns } from './host-limiter.ts'
import type { Dispatcher, OutgoingStreamRequest, OutgoingStreamResponse } from './outgoing.ts'
import { createExchange } from './outgoing-exchange.ts'

const DEADLINE_MS = 10_000
const IDLE_MS = 60_000
/** What is read ahead of the reader. */
const BUFFERED_BYTES = 64 * 1024

/**
 * Answers as soon as the head is there; the body comes as it is read. While nobody reads, the other side is not read
 * from either; while the other side does not read, nor is the request's body.
 */
export function openStream(
  dispatcher: Pick<Dispatcher, 'dispatch'>,
  turns: Turns,
  url: URL,
  request: OutgoingStreamRequest & { readonly headers: Readonly<Record<string, string>> },
): Promise<OutgoingStreamResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<OutgoingStreamResponse>()
  const { method, headers, signal, deadlineMs = DEADLINE_MS, idleMs = IDLE_MS } = request
  const { maxBytes = Number.POSITIVE_INFINITY, redirects = 'refuse' } = request
  const upload = toUpload(request.body)
  let answer: ReadableStreamDefaultController<Uint8Array> | undefined
  let timer: NodeJS.Timeout | undefined
  let isAnswered = false
  let received = 0
  /** What one read of the socket brought: a server may make a piece of every byte. */
  let pieces: Buffer[] = []
  /** Of the request's own body, when it could not be read to its end. */
  let uploadError: Error | undefined

  const waitFor = (ms: number) => {
    clearTimeout(timer)
    if (Number.isFinite(ms)) timer = setTimeout(() => exchange.fail('timeout'), ms)
  }
  const settle = () => {
    clearTimeout(timer)
    if (upload instanceof Readable) upload.destroy()
  }
  const handOn = () => {
    const [first, ...more] = pieces
    pieces = []
    if (first === undefined) return
    waitFor(idleMs)
    answer?.enqueue(more.length === 0 ? first : Buffer.concat([first, ...more]))
    if ((answer?.desiredSize ?? 0) <= 0) exchange.pause()
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        answer = controller
      },
      pull() {
        if (!isAnswered) return
        waitFor(idleMs)
        exchange.resume()
      },
      cancel: () => exchange.fail('timeout'),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: BUFFERED_BYTES }),
  )

  const exchange = createExchange(
    dispatcher,
    turns,
    url,
    {
      headers,
      ...(request.path !== undefined && { path: request.path }),
      ...(method !== undefined && { method }),
      ...(signal && { signal }),
      ...(upload !== undefined && { body: upload }),
    },
    {
      sent: () => waitFor(isAnswered ? idleMs : deadlineMs),
      head(status, fields) {
        if (redirects === 'refuse' && status >= 300 && status < 400) return exchange.fail('redirected')
        if (Number(fields['content-length']) > maxBytes && method !== 'HEAD')
          return exchange.fail('too_large')
        isAnswered = true
        waitFor(idleMs)
        resolve({ status, headers: fields, body })
      },
      data(chunk) {
        received += chunk.length
        if (received > maxBytes) return exchange.fail('too_large')
        if (chunk.length > 0 && pieces.push(chunk) === 1) queueMicrotask(handOn)
      },
      end() {
        handOn()
        settle()
        answer?.close()
      },
      failed(error) {
        pieces = []
        settle()
        reject(uploadError ?? error)
        answer?.error(uploadError ?? error)
      },
    },
  )
  if (upload instanceof Readable)
    upload.on('error', (error) => {
      uploadError = error
      exchange.fail('unreachable')
    })
  waitFor(deadlineMs)
  exchange.begin()
  return promise
}

function toUpload(body: OutgoingStreamRequest['body']): string | Uint8Array | Readable | undefined {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return body
  // Node's and the DOM's names for the same class
  if (body instanceof ReadableStream) return Readable.fromWeb(body as unknown as NodeReadableStream)
  return Readable.from(body, { objectMode: false, highWaterMark: BUFFERED_BYTES })
}
