import type { Context } from 'hono'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'

/**
 * Answers with server-sent events. hono sets `no-cache`, by which a cache may keep them; no cache may keep an answer that
 * has a token (RFC 6749 section 5.1).
 */
export function sendEvents(c: Context, send: (stream: SSEStreamingApi) => Promise<void>): Response {
  const response = streamSSE(c, send)
  response.headers.set('cache-control', 'no-store')
  return response
}
