import { type HttpBindings, type ServerType, serve } from '@hono/node-server'
import type { Config } from './config.ts'
import type { HotFetch } from './http/hot-fetch/hot-fetch.ts'
import { answerUnreadable, serverOptions } from './http/server/server-options.ts'

/**
 * Keep-alive timeout. It is longer than that of common reverse proxies (60 s), so that the proxy closes an idle
 * connection and never sends a request on one that this server is closing.
 */
const KEEP_ALIVE_MS = 65_000
/** Interval at which a shutdown closes connections that have become idle. */
const IDLE_MS = 50

type Listen = (incoming: HttpBindings['incoming'], outgoing: HttpBindings['outgoing']) => void
type Fetch = (request: Request, env: HttpBindings) => Response | Promise<Response>

/** A listening port. */
export interface Listener {
  /** Requests that are not answered yet, including those whose client has disconnected. */
  readonly activeRequests: number
  /** Accepts no more connections and finishes the running requests. After `ms` it cuts off those that still run. */
  close(ms: number): Promise<void>
}

/** Serves the app, and before it `hotFetch`. Rejects when the port cannot be bound. */
export async function listen(
  fetchApp: Fetch,
  { host, port, publicUrl }: Pick<Config, 'host' | 'port' | 'publicUrl'>,
  hotFetch?: HotFetch,
): Promise<Listener> {
  let activeRequests = 0
  let isClosing = false
  let onFinished = () => {}

  function end(outgoing: HttpBindings['outgoing']): void {
    activeRequests--
    if (!isClosing) return
    // the client learns that its next request needs another connection (RFC 9112 section 9.6)
    if ('shouldKeepAlive' in outgoing) outgoing.shouldKeepAlive = false
    if (activeRequests === 0) onFinished()
  }

  function finish<T>(answer: T, { outgoing }: HttpBindings): T {
    end(outgoing)
    return answer
  }

  /** Answers plain requests for tokens by the hot fetch, all others by `usual`. */
  function before(usual: Listen, { mayTake, take }: HotFetch): Listen {
    return (incoming, outgoing) => {
      if (!mayTake(incoming)) return usual(incoming, outgoing)
      activeRequests++
      take(incoming, outgoing, {
        answering: () => end(outgoing),
        passOn() {
          usual(incoming, outgoing) // counts the request again
          end(outgoing)
        },
      })
    }
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
    const [usual] = server.listeners('request') as [Listen] // the one of `serve`
    if (hotFetch !== undefined) server.removeAllListeners('request').on('request', before(usual, hotFetch))
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
