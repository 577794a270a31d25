import Database from 'better-sqlite3'
import { startBare } from './bare.ts'
import type { Bench } from './bench.ts'
import { callsTo } from './calls.ts'
import { compared } from './compared.ts'
import { CONNECTIONS, ROUND_MS, type Server } from './fetching.ts'
import { startGatepass } from './gatepass.ts'
import { WARM_UP_MS } from './pace.ts'
import { API_KEY } from './people.ts'
import type { RawRequest } from './raw-client.ts'
import type { Figure } from './report.ts'
import { alternate, medianOf } from './rounds.ts'
import { databaseIn } from './seed.ts'

const ROUNDS = 5
/** Six times the rate when each read built its query: 1,200 a second. */
const LEAST_RATE = 7_200

/** `GET` of one connection by its id, drawn at random. */
export async function connection({ folder, load }: Bench): Promise<Figure[]> {
  await using gatepass = await startGatepass(folder)
  await using bare = await startBare(folder)
  const database = new Database(databaseIn(folder), { readonly: true })
  const ids = database.prepare("select id from connections where user_id like 'user-%'").pluck().all()
  database.close()
  const headers = { authorization: `Bearer ${API_KEY}` }
  const requests = ids.map((id): RawRequest => ({ method: 'GET', path: `/v1/connections/${id}`, headers }))
  const calls = { requests, expects: '"conn_', connections: CONNECTIONS, generator: 'awake' } as const
  const round = (server: Server, ms = ROUND_MS) => callsTo(load, server, { ...calls, ms })
  for (const server of [bare, gatepass]) await round(server, WARM_UP_MS / 2)
  const pairs = await alternate(ROUNDS, { gatepass: () => round(gatepass), bare: () => round(bare) })
  const [first, ...more] = compared({ name: 'GET of one connection by id', to: 'bare hono GET' }, pairs)
  const rate = medianOf(pairs.gatepass, (one) => one.rate)
  const target = `>= ${LEAST_RATE} a second, six times 1,200`
  return first === undefined
    ? more
    : [{ ...first, target, met: rate >= LEAST_RATE, disturbed: !pairs.isQuiet }, ...more]
}
