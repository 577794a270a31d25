import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startBare } from './bare.ts'
import type { Bench } from './bench.ts'
import { CONNECTIONS, cpuOf, fetchFrom, type Round, rateOf, ratios, type Server } from './fetching.ts'
import { startGatepass } from './gatepass.ts'
import type { LoadProcess } from './load-process.ts'
import { type Figure, spread, whole } from './report.ts'
import { seed } from './seed.ts'

/** More than the cache of connections holds (20,000), so that users who are asked for in turn are never in it. */
export const COLD_USERS = 22_000
const ROUNDS = 5
const WARM_UP_MS = 6_000

/** Fetches for all users in turn, round after round: when a user is asked for again, the cache has dropped it. */
export function coldRounds(load: LoadProcess, server: Server): (ms?: number) => Promise<Round> {
  let next = 0
  return async (ms) => {
    const round = await fetchFrom(load, server, {
      users: COLD_USERS,
      inTurnFrom: next,
      ...(ms !== undefined && { ms }),
    })
    next = (next + round.answered) % COLD_USERS
    return round
  }
}

/** A database of its own with that many users, seeded by the bench of the release that is measured on it. */
export async function seedCold(
  { folder, upstream }: Pick<Bench, 'folder' | 'upstream'>,
  name: string,
  release: { readonly seed: typeof seed } = { seed },
): Promise<string> {
  const own = join(folder, name)
  await mkdir(own)
  await release.seed(own, upstream.port, COLD_USERS)
  return own
}

/** A fresh token for a user who is in no cache, as a ratio to the bare endpoint measured right before. */
export async function coldFetch(bench: Bench): Promise<Figure[]> {
  const folder = await seedCold(bench, 'cold-database')
  await using gatepass = await startGatepass(folder)
  await using bare = await startBare()
  const fetchCold = coldRounds(bench.load, gatepass)
  const fetchBare = coldRounds(bench.load, bare)
  await fetchBare(WARM_UP_MS)
  await fetchCold(WARM_UP_MS)
  const rounds = { bare: [] as Round[], gatepass: [] as Round[] }
  for (let i = 0; i < ROUNDS; i++) {
    rounds.bare.push(await fetchBare())
    rounds.gatepass.push(await fetchCold())
  }
  return [
    {
      name: `the same for users who are in no cache (${whole(COLD_USERS)} in turn, ${CONNECTIONS} connections): ratio`,
      value: spread(ratios(rounds.gatepass, rounds.bare), (value) => value.toFixed(2)),
    },
    {
      name: '  requests per second: Gatepass, bare',
      value: `${rateOf(rounds.gatepass)}, ${rateOf(rounds.bare)}`,
    },
    {
      name: '  server CPU per request: Gatepass, bare',
      value: `${cpuOf(rounds.gatepass)} us, ${cpuOf(rounds.bare)} us`,
    },
  ]
}
