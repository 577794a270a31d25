import type { Context, MiddlewareHandler } from 'hono'
import { BrokerError } from '../../domain/errors.ts'

/** What an API request may hold: tool metadata and tool inputs are the largest. */
export const MAX_API_BODY_BYTES = 8 * 1024 * 1024

/**
 * Refuses a body over `maxBytes`: by its Content-Length, to which Node holds the sender, or a chunked one while it is
 * read; only the latter has to be waited for. Hono's own makes a Request of node-server's, which fails for every
 * request that states no length. Throws `request_too_large`.
 */
export function limitBody(c: Context, maxBytes: number): Promise<void> | undefined {
  if (Number(c.req.header('content-length') ?? 0) > maxBytes) throw tooLarge(c)
  return c.req.header('transfer-encoding') === undefined ? undefined : readChunks(c, maxBytes)
}

/** `limitBody` for routes that have no definition of their own. */
export function bodyLimit(maxBytes: number): MiddlewareHandler {
  return async (c, next) => {
    await limitBody(c, maxBytes)
    return next()
  }
}

async function readChunks(c: Context, maxBytes: number): Promise<void> {
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
}

/** The rest of the body is not read, so the connection is of no more use (RFC 9112 section 9.3). */
function tooLarge(c: Context): BrokerError {
  c.header('connection', 'close')
  return new BrokerError('request_too_large', 'The request body is too large.')
}
