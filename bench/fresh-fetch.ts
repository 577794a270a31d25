import { once } from 'node:events'
import { startBare } from './bare.ts'
import type { Bench } from './bench.ts'
import { coldFetch } from './cold-fetch.ts'
import { compared } from './compared.ts'
import type { Generator } from './driving.ts'
import { CONNECTIONS, fetchFrom, WARM_UP_MS } from './fetching.ts'
import { startGatepass } from './gatepass.ts'
import { USERS } from './people.ts'
import { startScript } from './process.ts'
import { type Figure, whole } from './report.ts'
import { alternate } from './rounds.ts'
import { databaseIn } from './seed.ts'

const ROUNDS = 7
const FURTHER_ROUNDS = 3
const LEAST_RATIO = 0.65
const TO = 'bare hono POST'

/** A fresh token for a random user, as a ratio to the bare endpoint measured right before and after. */
export async function freshFetch(bench: Bench): Promise<Figure[]> {
  return [...(await warmFetch(bench)), ...(await coldFetch(bench))]
}

async function warmFetch({ folder, load, seeded }: Bench): Promise<Figure[]> {
  await using gatepass = await startGatepass(folder)
  await using bare = await startBare(folder)
  await using writer = startScript('other-writer.ts', [databaseIn(folder), seeded.keyId])
  const order = async (what: 'write' | 'rest') => {
    writer.child.send(what)
    await once(writer.child, 'message')
  }
  for (const server of [bare, gatepass]) await fetchFrom(load, server, { ms: WARM_UP_MS })
  const rounds = (count: number, generator: Generator = 'awake') =>
    alternate(count, {
      gatepass: () => fetchFrom(load, gatepass, { generator }),
      bare: () => fetchFrom(load, bare, { generator }),
    })
  const warm = await rounds(ROUNDS)
  const asleep = await rounds(FURTHER_ROUNDS, 'asleep')
  await order('write')
  const besideWriter = await rounds(FURTHER_ROUNDS)
  await order('rest')

  const name = `fetch, warm cache, ${whole(USERS)} users, ${CONNECTIONS} connections`
  return [
    ...compared({ name, to: TO, atLeast: LEAST_RATIO }, warm),
    ...compared({ name: 'the same with a load generator that sleeps between answers', to: TO }, asleep),
    ...compared({ name: 'the same while another process writes every 100 ms', to: TO }, besideWriter),
  ]
}
