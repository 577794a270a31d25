import type { Context } from 'hono'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'

/**
 * Answers with server-sent events. hono sets `cache-control: no-cache`, with which a cache may store the answer; an
 * answer with a token must not be stored (RFC 6749 section 5.1).
 */
export function sendEvents(c: Context, send: (stream: SSEStreamingApi) => Promise<void>): Response {
  const response = streamSSE(c, send)
  response.headers.set('cache-control', 'no-store')
  return response
}
