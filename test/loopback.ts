import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A real HTTP server on a free port of 127.0.0.1. `close` ends open connections too, so nothing outlives a test. */
export interface Loopback extends AsyncDisposable {
  readonly url: string
  close(): Promise<void>
}

export type Handler = (req: IncomingMessage, res: ServerResponse) => unknown

export async function listen(handler: Handler): Promise<Loopback> {
  const server = createServer(async (req, res) => {
    try {
      await handler(req, res)
    } catch (error) {
      if (res.writable && !res.headersSent) answer(res, 500, 'text/plain', String(error))
      else res.destroy()
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo // a TCP server that listens has one
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${port}`, close, [Symbol.asyncDispose]: close }
}

/** A request to a test server, kept for the test. */
export interface RecordedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly query: Readonly<Record<string, string>>
  /** The query as it was sent, for parameters sent twice. */
  readonly search: string
  readonly body: string
  readonly form?: Readonly<Record<string, string>>
  readonly json?: unknown
  /** The named parameters of the query, the form or the JSON object. */
  readonly params: Readonly<Record<string, string>>
  readonly at: number
}

const MAX_BODY_BYTES = 8 * 1024 * 1024

export async function record(req: IncomingMessage): Promise<RecordedRequest> {
  const url = new URL(req.url ?? '/', 'http://127.0.0.1')
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw new Error('request body too large')
    chunks.push(chunk)
  }
  const body = Buffer.concat(chunks).toString('utf8')
  const type = req.headers['content-type'] ?? ''
  const query = Object.fromEntries(url.searchParams)
  const form = type.startsWith('application/x-www-form-urlencoded')
    ? Object.fromEntries(new URLSearchParams(body))
    : undefined
  const json = type.startsWith('application/json') ? parseJson(body) : undefined
  const members = typeof json === 'object' && json !== null ? Object.entries(json) : []
  return {
    method: req.method ?? 'GET',
    path: url.pathname,
    headers: req.headers,
    query,
    search: url.search,
    body,
    ...(form && { form }),
    ...(json !== undefined && { json }),
    params: {
      ...query,
      ...form,
      ...Object.fromEntries(members.map(([name, value]) => [name, String(value)])),
    },
    at: Date.now(),
  }
}

export function answer(
  res: ServerResponse,
  status: number,
  type: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): void {
  res.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', ...headers }).end(body)
}

export function answerJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  answer(res, status, 'application/json', JSON.stringify(body), headers)
}

export function bearerOf(headers: IncomingHttpHeaders): string | undefined {
  return /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
