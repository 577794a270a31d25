import type { Context, MiddlewareHandler } from 'hono'
import { BrokerError } from '../domain/errors.ts'

/**
 * Refuses a body over `maxBytes`: by its Content-Length, to which Node holds the sender, or a chunked one while it is
 * read. Hono's own makes a Request of node-server's, which fails for every request that states no length.
 */
export function bodyLimit(maxBytes: number): MiddlewareHandler {
  return async (c, next) => {
    const length = c.req.header('content-length')
    if (length !== undefined && Number(length) > maxBytes) throw tooLarge(c)
    if (c.req.header('transfer-encoding') === undefined) return next()
    const { method, headers, signal, body } = c.req.raw
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of body ?? []) {
      size += chunk.length
      if (size > maxBytes) throw tooLarge(c)
      chunks.push(chunk)
    }
    if (method !== 'GET' && method !== 'HEAD')
      c.req.raw = new Request(c.req.url, { method, headers, signal, body: Buffer.concat(chunks) })
    return next()
  }
}

/** The rest of the body is not read, so the connection is of no more use (RFC 9112 section 9.3). */
function tooLarge(c: Context): BrokerError {
  c.header('connection', 'close')
  return new BrokerError('request_too_large', 'The request body is too large.')
}
