import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { jsonBody } from '../../tools/large-json.ts'

/** `c.json` for what holds a tool's answer: its large parts are sent as the bytes they are. */
export function sendJson(c: Context, value: unknown, status: ContentfulStatusCode = 200): Response {
  const body = jsonBody(value)
  const sent = typeof body === 'string' ? body : (body as Uint8Array<ArrayBuffer>) // Node's buffers are not shared
  return c.body(sent, status, { 'content-type': 'application/json' })
}
