import { once } from 'node:events'
import { startBare } from './bare.ts'
import type { Bench } from './bench.ts'
import { coldFetch } from './cold-fetch.ts'
import {
  CONNECTIONS,
  cpuOf,
  fetchFrom,
  type Generator,
  type Round,
  rateOf,
  ratios,
  WARM_UP_MS,
} from './fetching.ts'
import { startGatepass } from './gatepass.ts'
import { startScript } from './process.ts'
import { type Figure, median, spread, whole } from './report.ts'
import { databaseIn, USERS } from './seed.ts'

const ROUNDS = 7
const FURTHER_ROUNDS = 3
const LEAST_RATIO = 0.5

/** A fresh token for a random user, as a ratio to the bare endpoint measured right before and after. */
export async function freshFetch(bench: Bench): Promise<Figure[]> {
  return [...(await warmFetch(bench)), ...(await coldFetch(bench))]
}

async function warmFetch({ folder, load, seeded }: Bench): Promise<Figure[]> {
  await using gatepass = await startGatepass(folder)
  await using bare = await startBare()
  await using writer = startScript('other-writer.ts', [databaseIn(folder), seeded.keyId])
  const order = async (what: 'write' | 'rest') => {
    writer.child.send(what)
    await once(writer.child, 'message')
  }

  for (const server of [bare, gatepass]) await fetchFrom(load, server, { ms: WARM_UP_MS })
  const quiet = { bare: [] as Round[], gatepass: [] as Round[] }
  const disturbed = { bare: [] as Round[], gatepass: [] as Round[] }
  const asleep = { bare: [] as Round[], gatepass: [] as Round[] }
  const pair = async (rounds: typeof quiet, generator: Generator = 'awake') => {
    rounds.bare.push(await fetchFrom(load, bare, { generator }))
    rounds.gatepass.push(await fetchFrom(load, gatepass, { generator }))
  }
  for (let i = 0; i < ROUNDS; i++) await pair(quiet)
  for (let i = 0; i < FURTHER_ROUNDS; i++) await pair(asleep, 'asleep')
  await order('write')
  for (let i = 0; i < FURTHER_ROUNDS; i++) await pair(disturbed)
  await order('rest')

  const ratio = ratios(quiet.gatepass, quiet.bare)
  const show = (value: number) => value.toFixed(2)
  return [
    {
      name: `fresh-token fetch, ${whole(USERS)} users, ${CONNECTIONS} connections: ratio to bare hono`,
      value: spread(ratio, show),
      target: `>= ${LEAST_RATIO}`,
      met: median(ratio) >= LEAST_RATIO,
    },
    {
      name: '  requests per second: Gatepass, bare',
      value: `${rateOf(quiet.gatepass)}, ${rateOf(quiet.bare)}`,
    },
    {
      name: '  server CPU per request: Gatepass, bare',
      value: `${cpuOf(quiet.gatepass)} us, ${cpuOf(quiet.bare)} us`,
    },
    {
      name: '  the same with a load generator that sleeps between answers: ratio',
      value: spread(ratios(asleep.gatepass, asleep.bare), show),
    },
    {
      name: '  server CPU per request then: Gatepass, bare',
      value: `${cpuOf(asleep.gatepass)} us, ${cpuOf(asleep.bare)} us`,
    },
    {
      name: '  the same while another process writes every 100 ms: ratio',
      value: spread(ratios(disturbed.gatepass, disturbed.bare), show),
    },
    {
      name: '  requests per second, server CPU per request',
      value: `${rateOf(disturbed.gatepass)}, ${cpuOf(disturbed.gatepass)} us`,
    },
  ]
}
