import { once } from 'node:events'
import { startBare } from './bare.ts'
import { type Bench, folderIn, type Place } from './bench.ts'
import { compared } from './compared.ts'
import { flushing } from './disk-probe.ts'
import { fetchFrom } from './fetching.ts'
import { startGatepass } from './gatepass.ts'
import { WARM_UP_MS } from './pace.ts'
import { USERS } from './people.ts'
import { startScript } from './process.ts'
import { type Figure, whole } from './report.ts'
import { alternate } from './rounds.ts'
import { databaseIn } from './seed.ts'

const ROUNDS = 7
const FURTHER_ROUNDS = 3
/** 32 callers move in step, so that little is computed while the disk flushes; of 256 many do not. */
const CALLERS = [32, 256] as const
const LEAST = { disk: { 32: 0.33, 256: 0.46 }, memory: { 32: 0.52, 256: undefined } } as const
const TO = 'bare hono POST'

/** A fresh token for a random user, as a ratio to the bare endpoint, and to one that also records each answer. */
export async function warmFetch(bench: Bench, place: Place): Promise<Figure[]> {
  const folder = await folderIn(bench, place)
  const { load } = bench
  await using gatepass = await startGatepass(folder)
  await using bare = await startBare(folder)
  await using recording = await startBare(folder, { records: true })
  for (const server of [bare, recording, gatepass]) await fetchFrom(load, server, { ms: WARM_UP_MS })
  const figures = await flushing(folder, place)
  for (const connections of CALLERS) {
    const sides = await alternate(ROUNDS, {
      gatepass: () => fetchFrom(load, gatepass, { connections }),
      bare: () => fetchFrom(load, bare, { connections }),
      recording: () => fetchFrom(load, recording, { connections }),
    })
    const name = `fetch, warm cache, ${whole(USERS)} users, ${connections} callers, database ${IN[place]}`
    const atLeast = LEAST[place][connections]
    const alike = { name: '  the same', to: 'bare with one durable append per commit' }
    figures.push(
      ...compared({ name, to: TO, withTimes: true, ...(atLeast !== undefined && { atLeast }) }, sides),
      ...compared(alike, { ...sides, bare: sides.recording }).slice(0, 2),
    )
  }
  return figures
}

export const IN = { disk: 'on disk', memory: 'in memory' } as const satisfies Record<Place, string>

/** The warm fetch while another process writes to the same database. */
export async function fetchBesideWriter({ folder, load, seeded }: Bench): Promise<Figure[]> {
  await using gatepass = await startGatepass(folder)
  await using bare = await startBare(folder)
  await using writer = startScript('other-writer.ts', [databaseIn(folder), seeded.keyId])
  for (const server of [bare, gatepass]) await fetchFrom(load, server, { ms: WARM_UP_MS })
  writer.child.send('write')
  await once(writer.child, 'message')
  const pairs = await alternate(FURTHER_ROUNDS, {
    gatepass: () => fetchFrom(load, gatepass),
    bare: () => fetchFrom(load, bare),
  })
  return compared({ name: 'fetch, warm cache, while another process writes every 100 ms', to: TO }, pairs)
}
