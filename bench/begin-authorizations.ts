import type { Bench } from './bench.ts'
import { startGatepass } from './gatepass.ts'
import { connectMany, rawRequest } from './raw-client.ts'
import { type Figure, spread, whole } from './report.ts'
import { API_KEY, authorizeBody } from './seed.ts'

const CONNECTIONS = 32
const ROUNDS = 5
const ROUND_MS = 1_500

/** Authorizations begun per second, each for a user who has none: every one is a durable commit. */
export async function beginAuthorizations({ folder, load }: Bench): Promise<Figure[]> {
  await using gatepass = await startGatepass(folder)
  const rates: number[] = []
  for (let i = -1; i < ROUNDS; i++) {
    const rate = await load.run(
      { module: import.meta.url, load: beginLoad },
      { port: gatepass.port, ms: ROUND_MS },
    )
    if (i >= 0) rates.push(rate) // the first warms up
  }
  return [
    { name: `authorizations begun per second, ${CONNECTIONS} connections`, value: spread(rates, whole) },
  ]
}

export { beginLoad as load }

async function beginLoad({ port, ms }: { port: number; ms: number }) {
  const headers = { authorization: `Bearer ${API_KEY}` }
  const connections = await connectMany(port, CONNECTIONS)
  const run = Math.random().toString(36).slice(2)
  const begun = performance.now()
  let answered = 0
  await Promise.all(
    connections.map(async (connection, lane) => {
      for (let count = 0; performance.now() - begun < ms; count++) {
        const body = authorizeBody(`new-${run}-${lane}-${count}@example.com`)
        const request = rawRequest(port, { method: 'POST', path: '/v1/auth/authorize', headers, body })
        const answer = await connection.send(request)
        answered++
        if (answer.status !== 200 || !answer.body.includes('"pending"'))
          throw new Error(`not pending: ${answer.status} ${answer.body}`)
      }
      connection.close()
    }),
  )
  return (answered * 1000) / (performance.now() - begun)
}
