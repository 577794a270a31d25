import { setTimeout as sleep } from 'node:timers/promises'
import { startBare } from './bare.ts'
import type { Bench } from './bench.ts'
import { startGatepass } from './gatepass.ts'
import type { Started } from './process.ts'
import { connectMany, type RawConnection } from './raw-client.ts'
import { type Figure, median, spread, whole } from './report.ts'
import { type Begun, beginMany, waitFor } from './waiting.ts'

const WAITERS = 5_000
const ROUNDS = 3
/** Long enough for all waits to have begun and their garbage to be collected; none has ended by then. */
const SETTLE_MS = 4_000
const MOST_KB = 6

/** The memory that `WAITERS` long polls take, each with its TCP connection, at Gatepass and at a bare server. */
export async function waiterMemory({ folder, load }: Bench): Promise<Figure[]> {
  const module = { module: import.meta.url, load: memoryLoad }
  const holding = async (server: Started & { readonly port: number }, begun: readonly Begun[]) => {
    const { port } = server
    await sleep(1_000)
    const before = server.rssBytes()
    await load.run(module, { port, do: 'wait', begun })
    await sleep(SETTLE_MS)
    const after = server.rssBytes()
    await load.run(module, { port, do: 'leave' })
    return { perWaiter: (after - before) / WAITERS / 1024, held: after / 2 ** 20 }
  }
  const rounds: { own: number; bare: number; held: number }[] = []
  for (let i = 0; i < ROUNDS; i++) {
    await using gatepass = await startGatepass(folder)
    await using bare = await startBare(folder)
    const begun = await load.run(module, { port: gatepass.port, do: 'begin' })
    const own = await holding(gatepass, begun)
    const { perWaiter } = await holding(bare, begun)
    rounds.push({ own: own.perWaiter, bare: perWaiter, held: own.held })
  }
  const kB = (value: number) => value.toFixed(1)
  const more = rounds.map(({ own, bare }) => own - bare)
  return [
    {
      name: `memory per waiter at ${whole(WAITERS)} waiters, beyond that of its connection and request at bare hono`,
      value: `${spread(more, kB)} kB`,
      target: `<= ${MOST_KB} kB`,
      met: median(more) <= MOST_KB,
      disturbed: false,
    },
    {
      name: '  all that the process grows by: Gatepass, bare',
      value: `${spread(
        rounds.map(({ own }) => own),
        kB,
      )} kB, ${spread(
        rounds.map(({ bare }) => bare),
        kB,
      )} kB`,
    },
    {
      name: '  of the whole process then',
      value: `${spread(
        rounds.map(({ held }) => held),
        whole,
      )} MB`,
    },
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
