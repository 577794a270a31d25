import type { IncomingMessage, ServerResponse } from 'node:http'

// Serves a web-standard handler on a port, by the runtime's `node:http` (Node, Bun, Deno).

export interface Listening {
  /** Has the actual port, also if port 0 was given. */
  readonly url: string
  readonly port: number
  /** Accepts no more requests, and ends those that are open. */
  close(): Promise<void>
}

export type FetchHandler = (request: Request) => Response | Promise<Response>

/**
 * Serves requests until `close` is called. Rejects with the system's error if it cannot listen; for a port
 * that is taken (`EADDRINUSE`) it says what to do.
 */
export async function listen(
  handler: FetchHandler,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const { createServer } = await import('node:http')
  const server = createServer((req, res) => {
    void answer(handler, req, res)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(describe(error, host, port)))
    server.listen(port, host, resolve)
  })
  const address = server.address()
  const actual = typeof address === 'object' && address !== null ? address.port : port
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    port: actual,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** A taken port is no fault of the program: a program that does not handle the error ends with its message alone. */
function describe(error: Error & { readonly code?: string }, host: string, port: number): Error {
  if (error.code !== 'EADDRINUSE') return error
  const message = `The port ${port} of ${host} is taken: end the program that uses it, or give another number as port.`
  const taken = Object.assign(new Error(message), { code: error.code })
  taken.stack = `Error: ${message}`
  if (globalThis.process !== undefined) endWithMessageOf(taken)
  return taken
}

const endings = new WeakSet<Error>()

/** Replaces what the runtime prints of the error, by its message, if the program handles it neither here nor by a listener. */
function endWithMessageOf(error: Error): void {
  endings.add(error)
  process.off('uncaughtExceptionMonitor', end) // one listener is enough for all errors
  process.on('uncaughtExceptionMonitor', end)
}

function end(error: Error): void {
  if (!endings.has(error) || process.listenerCount('uncaughtException') > 0) return
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}

/** Tells a person who started the program in a terminal where it listens; standard output is left to the program. */
export function announce(name: string, url: string): void {
  const { stderr } = globalThis.process ?? {}
  if (stderr?.isTTY === true) stderr.write(`${name} is served at ${url}\n`)
}

/** Answers one request; by 500 if the handler fails. Never rejects. */
async function answer(handler: FetchHandler, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const disconnect = new AbortController()
  res.on('close', () => {
    if (!res.writableFinished) disconnect.abort()
  })
  try {
    const request = toRequest(req, disconnect.signal)
    if (request === undefined) res.writeHead(400).end()
    else await send(await handler(request), res, disconnect.signal)
  } catch (error) {
    if (!disconnect.signal.aborted) console.error('A request could not be answered:', error)
    if (res.headersSent) res.destroy()
    else res.writeHead(500).end()
  }
}

async function send(response: Response, res: ServerResponse, disconnected: AbortSignal): Promise<void> {
  if (disconnected.aborted) {
    await response.body?.cancel() // otherwise an endless body would be produced for no client
    return
  }
  const headers: Record<string, string | string[]> = Object.fromEntries(response.headers)
  const cookies = response.headers.getSetCookie()
  res.writeHead(response.status, cookies.length > 0 ? { ...headers, 'set-cookie': cookies } : headers)
  if (response.body === null) {
    res.end()
    return
  }
  res.flushHeaders()
  const reader = response.body.getReader()
  disconnected.addEventListener('abort', () => void reader.cancel().catch(() => undefined), { once: true })
  for (;;) {
    const { done, value } = await reader.read()
    if (done || disconnected.aborted) break // a closed response emits no further event to wait for
    if (!res.write(value)) await new Promise<void>((resume) => onceAny(res, ['drain', 'close'], resume))
  }
  res.end()
}

function onceAny(res: ServerResponse, events: readonly string[], resume: () => void): void {
  const done = () => {
    for (const event of events) res.off(event, done)
    resume()
  }
  for (const event of events) res.on(event, done)
}

/** Returns the web-standard request; `undefined` for a URL or a method that `Request` does not accept. */
function toRequest(req: IncomingMessage, signal: AbortSignal): Request | undefined {
  const headers = new Headers()
  for (let i = 0; i + 1 < req.rawHeaders.length; i += 2) {
    const [name, value] = [req.rawHeaders[i], req.rawHeaders[i + 1]]
    if (name !== undefined && value !== undefined) headers.append(name, value)
  }
  const { method = 'GET' } = req
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const url = urlOf(req.url ?? '/', headers.get('host') ?? 'localhost')
  if (url === undefined || method === 'TRACE') return undefined
  return new Request(url, {
    method,
    headers,
    signal,
    ...(hasBody && { body: bodyOf(req), duplex: 'half' }),
  })
}

/** Returns the absolute URL; `undefined` if `host` is more than a host and a port, or the URL has credentials. */
function urlOf(target: string, host: string): URL | undefined {
  const base = URL.parse(`http://${host}`)
  if (base === null || base.href !== `${base.origin}/`) return undefined
  // a path that begins with `//` would name another host if it were resolved against the base
  const url = URL.parse(target.startsWith('/') ? `${base.origin}${target}` : target, base)
  return url === null || url.username !== '' || url.password !== '' ? undefined : url
}

function bodyOf(req: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = req[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done === true) controller.close()
      else controller.enqueue(new Uint8Array(value))
    },
    async cancel() {
      await chunks.return?.()
    },
  })
}
