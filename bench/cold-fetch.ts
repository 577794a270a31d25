import { startBare } from './bare.ts'
import type { Bench } from './bench.ts'
import { compared } from './compared.ts'
import { CONNECTIONS, type FetchOptions, fetchFrom, type Server } from './fetching.ts'
import { startGatepass } from './gatepass.ts'
import type { LoadProcess } from './load-process.ts'
import { isQuick, WARM_UP_MS } from './pace.ts'
import { type Figure, whole } from './report.ts'
import { alternate, type Round } from './rounds.ts'
import { seedOwn } from './seed.ts'

/** Holds a hundredth of the users or less, so that nearly all who are asked for in turn are not in it. */
export const NEARLY_NO_CACHE = { GATEPASS_CACHE_SIZE: '1MB' }
const CACHE_FOR_A_THIRD = { GATEPASS_CACHE_SIZE: isQuick ? '8MB' : '64MB' }
export const COLD_USERS = isQuick ? 3_000 : 22_000
const ROUNDS = 5

/** Fetches for all users in turn, round after round, from a server with `NEARLY_NO_CACHE`. */
export function coldRounds(
  load: LoadProcess,
  server: Server,
  options: FetchOptions = {},
): (ms?: number) => Promise<Round> {
  let next = 0
  return async (ms) => {
    const draw = { inTurnFrom: next }
    const round = await fetchFrom(load, server, { ...options, users: COLD_USERS, draw, ...(ms && { ms }) })
    next = (next + round.answered) % COLD_USERS
    return round
  }
}

/** A fresh token for a user who is in no cache, as a ratio to the bare endpoint measured right before. */
export async function coldFetch(bench: Bench): Promise<Figure[]> {
  const folder = await seedOwn(bench, 'cold-database', COLD_USERS)
  await using gatepass = await startGatepass(folder, { settings: NEARLY_NO_CACHE })
  await using caching = await startGatepass(folder, { settings: CACHE_FOR_A_THIRD })
  await using bare = await startBare(folder)
  const sides = { gatepass: coldRounds(bench.load, gatepass), bare: coldRounds(bench.load, bare) }
  await sides.bare(WARM_UP_MS)
  await sides.gatepass(WARM_UP_MS)
  const uniform = (server: Server) => fetchFrom(bench.load, server, { users: COLD_USERS })
  const inTurn = await alternate(ROUNDS, sides)
  await fetchFrom(bench.load, caching, { users: COLD_USERS, ms: WARM_UP_MS })
  const mixed = await alternate(ROUNDS, { gatepass: () => uniform(caching), bare: () => uniform(bare) })
  const name = `fetch, users who are in no cache (${whole(COLD_USERS)} in turn, ${CONNECTIONS} connections)`
  const random = `fetch, ${whole(COLD_USERS)} users at random, of whom the cache holds about a third`
  return [
    ...compared({ name, to: 'bare hono POST' }, inTurn),
    ...compared({ name: random, to: 'bare hono POST' }, mixed),
  ]
}
