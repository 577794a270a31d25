import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'
import { BrokerError } from '../../domain/errors.ts'
import type { StreamScrubber } from '../../tools/scrub-stream.ts'
import { inSlice } from '../../tools/slices.ts'

/** What is read into memory, so that it can be sent a second time. */
const REPEATABLE_BYTES = 256 * 1024
/** A file of the size that APIs take in one request. */
const MAX_UPLOAD_BYTES = 256 * 1024 * 1024

/**
 * The request's body: bytes when it is small, else what it is read from, piece by piece. Throws `request_too_large`,
 * for one that states no length while it is read.
 */
export async function readUpload(c: Context): Promise<Uint8Array | AsyncIterable<Uint8Array> | undefined> {
  const length = Number(c.req.header('content-length') ?? 0)
  if (length > MAX_UPLOAD_BYTES) throw tooLarge(c)
  if (length === 0 && c.req.header('transfer-encoding') === undefined) return undefined
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

/** Whoever stops reading it does not end the connection: the answer is still to come on it. */
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
 * The answer's body as it comes, without its secrets; nothing is read before it can be passed on. One that breaks off
 * breaks the caller's connection: an answer that ended as it should would look whole. `ended` is called once, however
 * it ends.
 */
export function passedOn(
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
            const clean = done ? scrubber.end() : await scrubbed(scrubber, value)
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

/** Of a piece that is looked through at a time: well under a millisecond. */
const SLICE_BYTES = 16 * 1024

/** A large piece is looked through in slices, which take turns with those of other answers. */
async function scrubbed(scrubber: StreamScrubber, piece: Uint8Array): Promise<Uint8Array> {
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

/** Whether what a body of that type holds can be read; one that says nothing of itself is looked through too. */
export function isText(contentType: string | undefined): boolean {
  return contentType === undefined || TEXT.test(contentType.trim())
}
