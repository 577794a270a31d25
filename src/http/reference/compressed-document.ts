import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Context } from 'hono'

/** A public document that is compressed once, in Node's thread pool, and sent to all clients. */
export interface CompressedDocument {
  readonly type: string
  readonly etag: string
  readonly identity: Uint8Array<ArrayBuffer>
  /** In order of size, the smallest first. */
  readonly compressed: readonly (readonly [encoding: 'br' | 'gzip', bytes: Uint8Array<ArrayBuffer>])[]
}

export async function compressDocument(type: string, text: string): Promise<CompressedDocument> {
  const bytes = Buffer.from(text)
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
  const [brotli, gzipped] = await Promise.all([
    promisify(brotliCompress)(bytes, { params }),
    promisify(gzip)(bytes),
  ])
  return {
    type,
    etag: createHash('sha256').update(bytes).digest('base64url').slice(0, 22),
    identity: bytes,
    compressed: [
      ['br', brotli],
      ['gzip', gzipped],
    ],
  }
}

/** Sends the document, or 304 when the client has this version (RFC 9110 sections 8.8.3, 12.5.3 and 13.1.2). */
export function sendDocument(c: Context, { type, etag, identity, compressed }: CompressedDocument): Response {
  const accepted = acceptedOf(c.req.header('accept-encoding'))
  const [encoding = 'identity', bytes = identity] = compressed.find(([name]) => accepted.has(name)) ?? []
  c.header('vary', 'accept-encoding')
  c.header('cache-control', 'no-cache')
  c.header('etag', `"${etag}-${encoding}"`)
  const known = (c.req.header('if-none-match') ?? '')
    .split(',')
    .map((part) => part.trim().replace(/^W\//, ''))
  if (known.includes('*') || known.some((tag) => tag.startsWith(`"${etag}-`))) return c.body(null, 304)
  if (encoding !== 'identity') c.header('content-encoding', encoding)
  return c.body(bytes, 200, { 'content-type': type })
}

function acceptedOf(header = ''): ReadonlySet<string> {
  return new Set(
    header
      .toLowerCase()
      .split(',')
      .map((range) => range.split(';').map((part) => part.trim()))
      .filter(([, quality = '']) => !/^q=0(?:\.0*)?$/.test(quality))
      .map(([name = '']) => name),
  )
}
