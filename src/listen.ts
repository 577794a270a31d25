import { type HttpBindings, type ServerType, serve } from '@hono/node-server'
import type { Config } from './config.ts'
import { answerUnreadable, serverOptions } from './http/server/server-options.ts'

/**
 * How long a connection may wait for its next request: longer than the proxies in front (60 s as a rule) keep theirs,
 * so that it is they who close it and none of their requests meets a closing connection.
 */
const KEEP_ALIVE_MS = 65_000
/** How often, while it ends, connections that have become idle are closed. */
const IDLE_MS = 50

type Fetch = (request: Request, env: HttpBindings) => Response | Promise<Response>

/** The port, and what is being answered on it. */
export interface Listener {
  /** Requests whose answer is not there yet, also those whose client has gone meanwhile. */
  readonly underWay: number
  /** Takes no more connections and finishes the requests under way; what takes longer than `ms` is cut off. */
  close(ms: number): Promise<void>
}

export async function listen(
  fetch: Fetch,
  { host, port, publicUrl }: Pick<Config, 'host' | 'port' | 'publicUrl'>,
): Promise<Listener> {
  let underWay = 0
  let isEnding = false
  let onFinished = () => {}

  function finish<T>(answer: T, env: HttpBindings): T {
    underWay--
    if (isEnding) {
      // the client learns that its next request needs another connection (RFC 9112 section 9.6)
      if ('shouldKeepAlive' in env.outgoing) env.outgoing.shouldKeepAlive = false
      if (underWay === 0) onFinished()
    }
    return answer
  }

  const server = await new Promise<ServerType>((resolve, reject) => {
    const server = serve(
      {
        fetch(request, env) {
          underWay++
          const answer = (fetch as Fetch)(request, env as HttpBindings) // it is no HTTP/2 server
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
    get underWay() {
      return underWay
    },
    async close(ms) {
      isEnding = true
      const finished = new Promise<void>((resolve) => {
        onFinished = resolve
        if (underWay === 0) resolve()
      })
      const closed = new Promise((resolve) => server.close(resolve))
      // one that was busy stays open after its answer, until its client is done with it
      const idle = setInterval(() => {
        if ('closeIdleConnections' in server) server.closeIdleConnections()
      }, IDLE_MS)
      // Node's own timeouts end with the listening: a request that never comes whole would be waited for for ever
      const enough = setTimeout(() => {
        if ('closeAllConnections' in server) server.closeAllConnections()
        onFinished()
      }, ms)
      await closed
      // a code is redeemed to the end also when its browser has gone
      await finished
      clearInterval(idle)
      clearTimeout(enough)
    },
  }
}
