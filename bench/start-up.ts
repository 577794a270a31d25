import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from './bench.ts'
import { startGatepass } from './gatepass.ts'
import { type Figure, spread, whole } from './report.ts'

const ROUNDS = 5
const IDLE_MS = 1_500

/** From the start of the process to the first answer, and what it holds once nothing happens. */
export async function startUp({ folder }: Bench): Promise<Figure[]> {
  const millis: number[] = []
  const megabytes: number[] = []
  for (let i = 0; i < ROUNDS; i++) {
    await using gatepass = await startGatepass(folder)
    millis.push(gatepass.startedInMs)
    await sleep(IDLE_MS)
    megabytes.push(gatepass.rssBytes() / 2 ** 20)
  }
  return [
    { name: 'time to start, until /health answers', value: `${spread(millis, whole)} ms` },
    { name: 'memory when idle (RSS)', value: `${spread(megabytes, whole)} MB` },
  ]
}
