import { type HttpBindings, type ServerType, serve } from '@hono/node-server'
import type { Config } from './config.ts'
import { answerUnreadable, serverOptions } from './http/server/server-options.ts'

/**
 * Keep-alive timeout. It is longer than that of common reverse proxies (60 s), so that the proxy closes an idle
 * connection and never sends a request on one that this server is closing.
 */
const KEEP_ALIVE_MS = 65_000
/** Interval at which a shutdown closes connections that have become idle. */
const IDLE_MS = 50

type Fetch = (request: Request, env: HttpBindings) => Response | Promise<Response>

/** A listening port. */
export interface Listener {
  /** Requests that are not answered yet, including those whose client has disconnected. */
  readonly activeRequests: number
  /** Accepts no more connections and finishes the running requests. After `ms` it cuts off those that still run. */
  close(ms: number): Promise<void>
}

/** Serves the app. Rejects when the port cannot be bound. */
export async function listen(
  fetchApp: Fetch,
  { host, port, publicUrl }: Pick<Config, 'host' | 'port' | 'publicUrl'>,
): Promise<Listener> {
  let activeRequests = 0
  let isClosing = false
  let onFinished = () => {}

  function finish<T>(answer: T, env: HttpBindings): T {
    activeRequests--
    if (isClosing) {
      // the client learns that its next request needs another connection (RFC 9112 section 9.6)
      if ('shouldKeepAlive' in env.outgoing) env.outgoing.shouldKeepAlive = false
      if (activeRequests === 0) onFinished()
    }
    return answer
  }

  const server = await new Promise<ServerType>((resolve, reject) => {
    const server = serve(
      {
        fetch(request, env) {
          activeRequests++
          const answer = fetchApp(request, env as HttpBindings) // the server speaks HTTP/1.1 only
          if (!(answer instanceof Promise)) return finish(answer, env as HttpBindings)
          return answer.then(
            (response) => finish(response, env as HttpBindings),
            (error: unknown) => {
              finish(undefined, env as HttpBindings)
              throw error
            },
          )
        },
        hostname: host,
        port,
        serverOptions: { ...serverOptions(publicUrl), keepAliveTimeout: KEEP_ALIVE_MS },
      },
      () => resolve(server),
    )
    server.on('clientError', answerUnreadable)
    server.once('error', reject)
  })

  return {
    get activeRequests() {
      return activeRequests
    },
    async close(ms) {
      isClosing = true
      const finished = new Promise<void>((resolve) => {
        onFinished = resolve
        if (activeRequests === 0) resolve()
      })
      const closed = new Promise((resolve) => server.close(resolve))
      // a connection that was busy stays open after its answer until it is closed here
      const idle = setInterval(() => {
        if ('closeIdleConnections' in server) server.closeIdleConnections()
      }, IDLE_MS)
      // Node stops its own timeouts when the server closes, so a request that never arrives completely would wait for ever
      const deadline = setTimeout(() => {
        if ('closeAllConnections' in server) server.closeAllConnections()
        onFinished()
      }, ms)
      await closed
      // an authorization code is redeemed even if its browser has disconnected
      await finished
      clearInterval(idle)
      clearTimeout(deadline)
    },
  }
}
