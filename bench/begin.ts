import { startBare } from './bare.ts'
import type { Bench } from './bench.ts'
import { compared } from './compared.ts'
import { type Drive, drive } from './driving.ts'
import type { Server } from './fetching.ts'
import { startGatepass } from './gatepass.ts'
import type { LoadProcess } from './load-process.ts'
import { lasting } from './pace.ts'
import { authorizeBody } from './people.ts'
import { rawRequest } from './raw-client.ts'
import type { Figure } from './report.ts'
import { alternate, type Driven, type Round, roundOf } from './rounds.ts'
import { CALLER, CROWD } from './tool-side.ts'

const ROUNDS = 5
const ROUND_MS = 1_500
const LEAST_RATIO = 0.6

/** Authorizations of new users, each durable, compared with a server that commits one row for each request. */
export async function begin({ folder, load }: Bench): Promise<Figure[]> {
  await using gatepass = await startGatepass(folder, { settings: { GATEPASS_MAX_PENDING: '10000000' } })
  await using bare = await startBare(folder)
  const sides = {
    gatepass: () => beginAt(load, gatepass, '/v1/auth/authorize'),
    bare: () => beginAt(load, bare, '/begin'),
  }
  for (const warmUp of Object.values(sides)) await warmUp()
  return compared(
    {
      name: `begin, ${CROWD} at once`,
      to: 'bare hono with one durable insert',
      atLeast: LEAST_RATIO,
      withTimes: true,
    },
    await alternate(ROUNDS, sides),
  )
}

function beginAt(load: LoadProcess, server: Server, path: string): Promise<Round> {
  const job: Job = { port: server.port, connections: CROWD, ms: lasting(ROUND_MS), generator: 'asleep', path }
  return roundOf(server, () => load.run({ module: import.meta.url, load: beginLoad }, job))
}

interface Job extends Drive {
  readonly path: string
}

export { beginLoad as load }

function beginLoad({ path, ...job }: Job): Promise<Driven> {
  const run = Math.random().toString(36).slice(2)
  let next = 0
  return drive(job, () => {
    const body = authorizeBody(`new-${run}-${next++}@example.com`)
    return {
      request: rawRequest(job.port, { method: 'POST', path, headers: CALLER, body }),
      isRight: ({ status, body: answer }) => status === 200 && answer.includes('"pending"'),
    }
  })
}
