import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { jsonBody } from '../../tools/large-json.ts'

/** `c.json` for a tool's result: large parts of it are JSON bytes already and are sent without parsing them. */
export function sendJson(c: Context, value: unknown, status: ContentfulStatusCode = 200): Response {
  const body = jsonBody(value)
  const sent = typeof body === 'string' ? body : (body as Uint8Array<ArrayBuffer>) // Node's buffers are not shared
  return c.body(sent, status, { 'content-type': 'application/json' })
}

/** `c.json` for text that is JSON already. */
export function sendText(c: Context, json: string): Response {
  return c.body(json, 200, { 'content-type': 'application/json' })
}

/** A page whose items are JSON texts. */
export function sendPage(
  c: Context,
  { items: _, ...page }: { readonly items: readonly unknown[]; readonly [member: string]: unknown },
  items: readonly string[],
): Response {
  return sendText(c, `{"items":[${items.join()}],${JSON.stringify(page).slice(1)}`)
}
