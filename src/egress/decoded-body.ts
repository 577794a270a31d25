import { Duplex } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'

/** RFC 8878 section 3.1.1.1.2 asks for 8 MiB; without a limit a frame of a few bytes may claim 128 MiB. */
const ZSTD_PARAMS = { [constants.ZSTD_d_windowLogMax]: 23 }

const DECODERS: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: () => createZstdDecompress({ params: ZSTD_PARAMS }),
}

interface Answer {
  readonly headers: Readonly<Record<string, string>>
  readonly body: ReadableStream<Uint8Array>
}

/**
 * The answer without its content coding, for servers that compress although `identity` was asked for. Its length is
 * then not known before its end. A coding that is not known, or several, are left as they are.
 */
export function decodedBody<A extends Answer>(answer: A): A {
  const { 'content-encoding': encoding, 'content-length': _, ...headers } = answer.headers
  const coding = encoding?.trim().toLowerCase() ?? ''
  const decoder = Object.hasOwn(DECODERS, coding) ? DECODERS[coding]?.() : undefined
  if (decoder === undefined) return answer
  // Node's and the DOM's names for the same two classes
  const pair = Duplex.toWeb(decoder) as unknown as ReadableWritablePair<Uint8Array, Uint8Array>
  return { ...answer, headers, body: answer.body.pipeThrough(pair) }
}
