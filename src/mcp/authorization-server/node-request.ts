import { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'

/** A Koa app, which serves Node's request and response. */
export type NodeHandler = (req: IncomingMessage, res: ServerResponse) => unknown

/** A request for a Koa app. Its origin is that of the public URL, never the `Host` that the client sent. */
export interface KoaRequest {
  readonly publicUrl: URL
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Headers
  readonly body?: string | undefined
}

/** The response of a Koa app. */
export interface KoaAnswer {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string | null
}

/** Serves one request with a Koa app, so that its response passes through hono like every other. */
export async function serveWithKoa(handler: NodeHandler, request: KoaRequest): Promise<KoaAnswer> {
  const { req, res } = nodeExchange(request)
  await handler(req, res)
  const headers = Object.entries(res.getHeaders()).flatMap(([name, value]) =>
    [value ?? []].flat().map((text) => [name, String(text)] as const),
  )
  return { status: res.statusCode, headers, body: res.sent }
}

/** Makes a Node request and a response that belong to no connection. */
export function nodeExchange({ publicUrl, method, path, headers, body }: KoaRequest) {
  // no data passes through the socket
  const socket = new PassThrough() as unknown as ConstructorParameters<typeof IncomingMessage>[0]
  const req = new IncomingMessage(socket)
  req.method = method
  req.url = path
  // Koa takes its own origin from these, as from a proxy that it trusts
  const origin = { 'x-forwarded-proto': publicUrl.protocol.slice(0, -1), 'x-forwarded-host': publicUrl.host }
  req.headers = { ...Object.fromEntries(headers), host: publicUrl.host, ...origin }
  delete req.headers['transfer-encoding']
  if (body === undefined) delete req.headers['content-length']
  else req.headers['content-length'] = String(Buffer.byteLength(body))
  if (body !== undefined) req.push(body)
  req.push(null)
  return { req, res: new CapturedResponse(req) }
}

/** Keeps the body instead of sending it. oidc-provider passes the whole body to `end`. */
class CapturedResponse extends ServerResponse {
  sent: string | null = null

  override end(chunk?: unknown): this {
    if (typeof chunk === 'string' && chunk !== '') this.sent = chunk
    if (Buffer.isBuffer(chunk) && chunk.length > 0) this.sent = chunk.toString('utf8')
    return this
  }
}
