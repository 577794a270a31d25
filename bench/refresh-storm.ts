import type { Bench } from './bench.ts'
import { startGatepass } from './gatepass.ts'
import type { LoadProcess } from './load-process.ts'
import { type Session, tokenRequest } from './peers/get-tokens.ts'
import { API_KEY, authorizeBody, EXPIRED_USERS, expiredUser } from './people.ts'
import { connectMany, rawRequest } from './raw-client.ts'
import { type Figure, median, spread, whole } from './report.ts'
import { REFRESH_MS } from './upstream.ts'

export const CALLERS = 1_000

/** `CALLERS` ask at once for one token that has expired: one refresh serves all of them. */
export async function refreshStorm({ folder, load, upstream }: Bench): Promise<Figure[]> {
  await using gatepass = await startGatepass(folder)
  const millis: number[] = []
  const requests: number[] = []
  for (let i = 0; i < EXPIRED_USERS; i++) {
    upstream.takeRefreshes()
    millis.push(await stormAt(load, gatepass.port, { user: expiredUser(i) }))
    requests.push(upstream.takeRefreshes())
  }
  return [
    {
      name: `refresh storm, ${whole(CALLERS)} fetches of one expired token: requests upstream`,
      value: spread(requests, whole),
      target: '1',
      met: median(requests) === 1 && Math.max(...requests) === 1,
      disturbed: false,
    },
    {
      name: `  until all are answered (upstream takes ${REFRESH_MS} ms)`,
      value: `${spread(millis, whole)} ms`,
    },
  ]
}

/** Whose token the callers of a storm request: that of a user of Gatepass, or of a session of better-auth. */
type Whose = { readonly user: string } | Session

/** All ask at once; resolves with the milliseconds until the last has its answer. */
export function stormAt(load: LoadProcess, port: number, whose: Whose): Promise<number> {
  return load.run({ module: import.meta.url, load: stormLoad }, { port, whose })
}

export { stormLoad as load }

async function stormLoad({ port, whose }: { port: number; whose: Whose }): Promise<number> {
  const request =
    'cookie' in whose
      ? tokenRequest(port, whose)
      : rawRequest(port, {
          method: 'POST',
          path: '/v1/auth/authorize',
          headers: { authorization: `Bearer ${API_KEY}` },
          body: authorizeBody(whose.user),
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
