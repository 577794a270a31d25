import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from './bench.ts'
import { startGatepass } from './gatepass.ts'
import { connectMany, type RawConnection } from './raw-client.ts'
import { type Figure, spread, whole } from './report.ts'
import { type Begun, beginMany, waitFor } from './waiting.ts'

const WAITERS = 5_000
const ROUNDS = 3
/** Long enough for all waits to have begun and their garbage to be collected; none has ended by then. */
const SETTLE_MS = 4_000

/** What the process grows by while `WAITERS` long polls are held, each with its TCP connection. */
export async function waiterMemory({ folder, load }: Bench): Promise<Figure[]> {
  const perWaiter: number[] = []
  const held: number[] = []
  for (let i = 0; i < ROUNDS; i++) {
    await using gatepass = await startGatepass(folder)
    const { port } = gatepass
    const begun = await load.run({ module: import.meta.url, load: memoryLoad }, { port, do: 'begin' })
    await sleep(1_000)
    const before = gatepass.rssBytes()
    await load.run({ module: import.meta.url, load: memoryLoad }, { port, do: 'wait', begun })
    await sleep(SETTLE_MS)
    const after = gatepass.rssBytes()
    await load.run({ module: import.meta.url, load: memoryLoad }, { port, do: 'leave' })
    perWaiter.push((after - before) / WAITERS / 1024)
    held.push(after / 2 ** 20)
  }
  return [
    {
      name: `memory per waiter at ${whole(WAITERS)} waiters, its connection included`,
      value: `${spread(perWaiter, (value) => value.toFixed(1))} kB`,
    },
    { name: '  of the whole process then', value: `${spread(held, whole)} MB` },
  ]
}

interface MemoryJob {
  readonly port: number
  readonly do: 'begin' | 'wait' | 'leave'
  readonly begun?: readonly Begun[]
}

let connections: RawConnection[] = []

export { memoryLoad as load }

async function memoryLoad({ port, do: step, begun = [] }: MemoryJob): Promise<readonly Begun[]> {
  if (step === 'begin') return beginMany(port, WAITERS)
  if (step === 'wait') {
    connections = await connectMany(port, begun.length)
    for (const [i, one] of begun.entries()) void waitFor(port, connections[i] as RawConnection, one)
    return []
  }
  for (const connection of connections) connection.close()
  connections = []
  return []
}
