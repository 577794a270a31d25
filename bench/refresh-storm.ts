import type { Bench } from './bench.ts'
import { startGatepass } from './gatepass.ts'
import { connectMany, rawRequest } from './raw-client.ts'
import { type Figure, median, spread, whole } from './report.ts'
import { API_KEY, authorizeBody, EXPIRED_USERS, expiredUser } from './seed.ts'
import { REFRESH_MS } from './upstream.ts'

const CALLERS = 1_000

/** `CALLERS` ask at once for one token that has run out: one of them refreshes for all. */
export async function refreshStorm({ folder, load, upstream }: Bench): Promise<Figure[]> {
  await using gatepass = await startGatepass(folder)
  const millis: number[] = []
  const requests: number[] = []
  for (let i = 0; i < EXPIRED_USERS; i++) {
    upstream.takeRefreshes()
    millis.push(
      await load.run(
        { module: import.meta.url, load: stormLoad },
        { port: gatepass.port, user: expiredUser(i) },
      ),
    )
    requests.push(upstream.takeRefreshes())
  }
  return [
    {
      name: `refresh storm, ${whole(CALLERS)} fetches of one expired token: requests upstream`,
      value: spread(requests, whole),
      target: '1',
      met: median(requests) === 1 && Math.max(...requests) === 1,
    },
    {
      name: `  until all are answered (upstream takes ${REFRESH_MS} ms)`,
      value: `${spread(millis, whole)} ms`,
    },
  ]
}

export { stormLoad as load }

async function stormLoad({ port, user }: { port: number; user: string }) {
  const headers = { authorization: `Bearer ${API_KEY}` }
  const request = rawRequest(port, {
    method: 'POST',
    path: '/v1/auth/authorize',
    headers,
    body: authorizeBody(user),
  })
  const connections = await connectMany(port, CALLERS)
  const begun = performance.now()
  const answers = await Promise.all(connections.map((connection) => connection.send(request)))
  const millis = performance.now() - begun
  for (const connection of connections) connection.close()
  const wrong = answers.find(({ status, body }) => status !== 200 || !body.includes('upstream-access-token'))
  if (wrong !== undefined) throw new Error(`not the refreshed token: ${wrong.status} ${wrong.body}`)
  return millis
}
