import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'
import { BrokerError } from '../../domain/errors.ts'
import type { StreamScrubber } from '../../tools/scrub/scrub-stream.ts'
import { inSlice } from '../../tools/slices.ts'
import { requestHeader } from '../endpoint/request-header.ts'

/** Bodies up to this size are read into memory, so that they can be sent a second time. */
const REPEATABLE_BYTES = 256 * 1024
/** The largest body that is forwarded, about the size of the largest files that APIs accept in one request. */
const MAX_UPLOAD_BYTES = 256 * 1024 * 1024

/**
 * The request's body: a small one as bytes, a large one as a stream. Throws `request_too_large`; a stream without a
 * `content-length` throws it while it is read.
 */
export async function readProxiedBody(
  c: Context,
): Promise<Uint8Array | AsyncIterable<Uint8Array> | undefined> {
  const length = Number(requestHeader(c, 'content-length') ?? 0)
  if (length > MAX_UPLOAD_BYTES) throw tooLarge(c)
  if (length === 0 && requestHeader(c, 'transfer-encoding') === undefined) return undefined
  const source = sourceOf(c)[Symbol.asyncIterator]()
  const first: Uint8Array[] = []
  let size = 0
  while (length <= REPEATABLE_BYTES && size <= REPEATABLE_BYTES) {
    const { value, done } = await source.next()
    if (done) return Buffer.concat(first)
    first.push(value)
    size += value.length
  }
  return withRest(c, first, source)
}

async function* withRest(
  c: Context,
  first: readonly Uint8Array[],
  source: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let size = 0
  for (const chunk of first) {
    size += chunk.length
    yield chunk
  }
  for (let next = await source.next(); !next.done; next = await source.next()) {
    size += next.value.length
    if (size > MAX_UPLOAD_BYTES) throw tooLarge(c)
    yield next.value
  }
}

/** Ending the iteration early keeps the connection open, because the answer is sent on it. */
function sourceOf(c: Context): AsyncIterable<Uint8Array> {
  const incoming: IncomingMessage | undefined = c.env?.incoming
  if (incoming !== undefined)
    return { [Symbol.asyncIterator]: () => incoming.iterator({ destroyOnReturn: false }) }
  return c.req.raw.body ?? new ReadableStream<Uint8Array>()
}

function tooLarge(c: Context): BrokerError {
  c.header('connection', 'close') // the rest of the body is not read (RFC 9112 section 9.3)
  return new BrokerError(
    'request_too_large',
    `The request body is larger than ${MAX_UPLOAD_BYTES / 1024 / 1024} MiB.`,
  )
}

/**
 * The answer's body without its secrets, as a stream that reads no further than the caller does. When the API breaks the
 * body off, the caller's connection is destroyed: an orderly end would make the body look complete. `ended` is called
 * when the body has ended, failed or been cancelled.
 */
export function scrubbedBody(
  c: Context,
  body: ReadableStream<Uint8Array>,
  scrubber: StreamScrubber,
  ended: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const { value, done } = await reader.read()
            const clean = done ? scrubber.end() : await scrubChunk(scrubber, value)
            if (clean.length > 0) controller.enqueue(clean)
            if (done) {
              ended()
              return controller.close()
            }
            if (clean.length > 0) return
          }
        } catch (error) {
          ended()
          const outgoing: { destroy(): void } | undefined = c.env?.outgoing
          if (outgoing === undefined) controller.error(error)
          else outgoing.destroy()
        }
      },
      async cancel(reason) {
        ended()
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

/** A chunk is scrubbed in slices of this size, each of which takes far less than a millisecond. */
const SLICE_BYTES = 16 * 1024

/** Scrubs a large chunk in slices, which alternate with the slices of other answers. */
async function scrubChunk(scrubber: StreamScrubber, piece: Uint8Array): Promise<Uint8Array> {
  if (piece.length <= SLICE_BYTES / 4) return scrubber.push(piece)
  const clean: Uint8Array[] = []
  for (let at = 0; at < piece.length; at += SLICE_BYTES) {
    const slice = piece.subarray(at, at + SLICE_BYTES)
    clean.push(await inSlice(() => scrubber.push(slice)))
  }
  return clean.length === 1 && clean[0] !== undefined ? clean[0] : Buffer.concat(clean)
}

const TEXT =
  /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|x-www-form-urlencoded|(?:x-)?ndjson|jsonl|yaml|x-yaml|javascript|ecmascript|graphql|sql|problem|rtf)\b|multipart\/|message\/|image\/svg)/i

/** Whether a body of this media type is text, in which a token could be read. A body without a type counts as text. */
export function isText(contentType: string | undefined): boolean {
  return contentType === undefined || TEXT.test(contentType.trim())
}
