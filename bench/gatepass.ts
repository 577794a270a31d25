import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, type Started, startNode, untilHealthy } from './process.ts'
import { environmentFor } from './seed.ts'

/** `gatepass serve` as an operator starts it, on the seeded database. */
export interface Gatepass extends Started {
  readonly port: number
  /** From the start of the process until `/health` answered. */
  readonly startedInMs: number
}

export async function startGatepass(folder: string): Promise<Gatepass> {
  const port = await freePort()
  const log = openSync(join(folder, 'gatepass.log'), 'a')
  const begun = performance.now()
  const program = fileURLToPath(new URL('../bin/gatepass.js', import.meta.url))
  const started = startNode(
    [...(process.env.BENCH_NODE_ARGS ?? '').split(' ').filter(Boolean), program, 'serve'],
    {
      env: environmentFor(folder, port),
      stdio: ['ignore', log, log],
    },
  )
  closeSync(log)
  await untilHealthy(port, started)
  return { ...started, port, startedInMs: performance.now() - begun }
}
