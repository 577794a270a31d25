import type { Context, MiddlewareHandler } from 'hono'
import { BrokerError } from '../../domain/errors.ts'
import { requestHeader } from './request-header.ts'

/** The largest body of an API request. Tool metadata and tool inputs come near it. */
export const MAX_API_BODY_BYTES = 8 * 1024 * 1024

/**
 * Refuses a body of more than `maxBytes` by its `content-length`, which Node enforces. A chunked body has no
 * `content-length`, so it is read to count its bytes; only in this case a promise is returned. Hono's own body limit
 * builds a new Request, which fails with node-server for every request without a `content-length`. Throws
 * `request_too_large`.
 */
export function limitBody(c: Context, maxBytes: number): Promise<void> | undefined {
  if (Number(requestHeader(c, 'content-length') ?? 0) > maxBytes) throw tooLarge(c)
  return requestHeader(c, 'transfer-encoding') === undefined ? undefined : readChunks(c, maxBytes)
}

/** `limitBody` as a middleware, for routes without an endpoint definition. */
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

/** The rest of the body is not read, so no further request can use the connection (RFC 9112 section 9.3). */
function tooLarge(c: Context): BrokerError {
  c.header('connection', 'close')
  return new BrokerError('request_too_large', 'The request body is too large.')
}
