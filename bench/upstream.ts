import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** The provider: a token endpoint that counts refreshes, and takes `REFRESH_MS` for each. */
export interface Upstream extends AsyncDisposable {
  readonly port: number
  /** The number of refresh requests since the last call. */
  takeRefreshes(): number
}

export const REFRESH_MS = 100
/** Longer than any pause between two rounds, so that no request meets a connection that is being closed. */
export const KEPT_ALIVE_MS = 600_000

export async function startUpstream(): Promise<Upstream> {
  let refreshes = 0
  const server = createServer(async (request, response) => {
    let form = ''
    for await (const chunk of request) form += chunk
    if (new URLSearchParams(form).get('grant_type') === 'refresh_token') {
      refreshes++
      await sleep(REFRESH_MS)
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        access_token: 'upstream-access-token'.padEnd(200, '-'),
        refresh_token: 'upstream-refresh-token'.padEnd(200, '-'),
        token_type: 'bearer',
        expires_in: 3600,
      }),
    )
  })
  server.keepAliveTimeout = KEPT_ALIVE_MS
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return {
    port: address.port,
    takeRefreshes() {
      const taken = refreshes
      refreshes = 0
      return taken
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
