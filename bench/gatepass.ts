import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtProgram } from './built.ts'
import { freePort, type Started, startNode, untilHealthy } from './process.ts'
import { environmentFor } from './seed.ts'

/** `gatepass serve` as an operator starts it, on the seeded database. */
export interface Gatepass extends Started {
  readonly port: number
  /** From the start of the process until `/health` answered. */
  readonly startedInMs: number
}

export interface GatepassOptions {
  /** The number for `serve --processes`; absent: one process. */
  readonly processes?: number
  /** Another database than the folder's own, by its URL. */
  readonly database?: string
  /** The file that `hold-probe.ts` writes; absent: the probe is not loaded. */
  readonly holds?: string
  /** The sources of another checkout, instead of what is built from this one. */
  readonly checkout?: URL
  /** Further settings. */
  readonly settings?: Readonly<Record<string, string>>
}

/** The path of the program `gatepass`. */
export async function programIn(checkout?: URL): Promise<string> {
  return fileURLToPath(new URL('bin/gatepass.js', checkout ?? (await builtProgram())))
}

export async function startGatepass(
  folder: string,
  { processes, database, holds, checkout, settings }: GatepassOptions = {},
): Promise<Gatepass> {
  const program = await programIn(checkout)
  const port = await freePort()
  const log = openSync(join(folder, 'gatepass.log'), 'a')
  const begun = performance.now()
  const started = startNode(
    [
      ...(process.env.BENCH_NODE_ARGS ?? '').split(' ').filter(Boolean),
      ...(holds === undefined ? [] : ['--import', new URL('hold-probe.ts', import.meta.url).href]),
      program,
      'serve',
      ...(processes === undefined ? [] : ['--processes', String(processes), '--json']),
    ],
    {
      env: {
        ...environmentFor(folder, port),
        ...(database !== undefined && { GATEPASS_DATABASE_URL: database }),
        ...(holds !== undefined && { BENCH_HOLDS: holds }),
        ...settings,
      },
      stdio: ['ignore', processes === undefined ? log : 'pipe', log],
    },
  )
  closeSync(log)
  const { stdout } = started.child
  // the line of `--json` is written when all processes serve
  if (stdout !== null) await Promise.race([once(stdout, 'data'), once(started.child, 'exit')])
  await untilHealthy(port, started)
  return { ...started, port, startedInMs: performance.now() - begun }
}
