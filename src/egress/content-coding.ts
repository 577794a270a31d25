import { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import {
  brotliDecompress,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  gunzip,
  inflate,
  zstdDecompress,
} from 'node:zlib'
import { codeOf, OutgoingError } from './outgoing-error.ts'

// Content codings (RFC 9110 section 8.4.1) of servers that compress although `identity` was asked for. undici's own
// interceptor is experimental: it writes a warning into the log, and turns a body that is not compressed as its header
// says into an error, where `decodeBody` returns the body as it came.

/** The limit of RFC 9659 section 3 for the window: 8 MiB. By default, a frame of a few bytes may claim 128 MiB. */
const ZSTD_PARAMS = { [constants.ZSTD_d_windowLogMax]: 23 }
const unzstd = promisify(zstdDecompress)

interface Decoder {
  /** Rejects with `ERR_BUFFER_TOO_LARGE` when the result is longer. */
  decode(body: Uint8Array, options: { readonly maxOutputLength: number }): Promise<Buffer>
  stream(): Duplex
}

const GZIP: Decoder = { decode: promisify(gunzip), stream: createGunzip }

const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ['gzip', GZIP],
  ['x-gzip', GZIP],
  ['deflate', { decode: promisify(inflate), stream: createInflate }],
  ['br', { decode: promisify(brotliDecompress), stream: createBrotliDecompress }],
  [
    'zstd',
    {
      decode: (body, options) => unzstd(body, { ...options, params: ZSTD_PARAMS }),
      stream: () => createZstdDecompress({ params: ZSTD_PARAMS }),
    },
  ],
])

interface Coded<Body> {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body
}

/**
 * The response without its content coding. The response is returned unchanged if its body cannot be decoded or has an
 * unknown coding or several codings. Throws `OutgoingError` `too_large` when the decoded body has more than
 * `maxBytes`.
 */
export async function decodeBody<R extends Coded<Uint8Array>>(
  response: R,
  { host, maxBytes }: { readonly host: string; readonly maxBytes: number },
): Promise<R> {
  const { decoder, headers } = codingOf(response)
  if (decoder === undefined || response.body.length === 0) return response
  try {
    return { ...response, headers, body: await decoder.decode(response.body, { maxOutputLength: maxBytes }) }
  } catch (error) {
    if (codeOf(error) !== 'ERR_BUFFER_TOO_LARGE') return response
    throw new OutgoingError('too_large', host, { requestSent: true })
  }
}

/**
 * The response without its content coding, for a body that is read as a stream. A body that cannot be decoded ends with
 * an error; the length of the decoded body is not limited.
 */
export function decodeStream<R extends Coded<ReadableStream<Uint8Array>>>(response: R): R {
  const { decoder, headers } = codingOf(response)
  if (decoder === undefined) return response
  // Node and the DOM have different types for the same two classes
  const pair = Duplex.toWeb(decoder.stream()) as unknown as ReadableWritablePair<Uint8Array, Uint8Array>
  return { ...response, headers, body: response.body.pipeThrough(pair) }
}

function codingOf({ headers }: Pick<Coded<unknown>, 'headers'>) {
  const coding = headers['content-encoding']
  if (coding === undefined) return { decoder: undefined, headers }
  const { 'content-encoding': _, 'content-length': __, ...others } = headers
  return { decoder: DECODERS.get(coding.trim().toLowerCase()), headers: others }
}
