import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from './bench.ts'
import { programIn, startGatepass } from './gatepass.ts'
import { PROVIDER_ID, userName } from './people.ts'
import { startNode } from './process.ts'
import { type Figure, median, spread, whole } from './report.ts'
import { environmentFor } from './seed.ts'

const ROUNDS = 5
const IDLE_MS = 1_500
const MOST_VERSION_MS = 200
const MOST_TOKEN_MS = 700
const MOST_MEGABYTES = 110

/**
 * From the start of a process to its end, or to the server's first answer, and the memory of an idle server. The
 * programs take turns with `node -e 0`, which says how fast the machine starts a process at the moment.
 */
export async function startUp({ folder }: Bench): Promise<Figure[]> {
  const token = ['token', PROVIDER_ID, '--user', userName(0)]
  const binary = await programIn()
  const programs = { bare: ['-e', '0'], version: [binary, '--version'], token: [binary, ...token] }
  const millis = { bare: [], version: [], token: [], serve: [] } as Record<string, number[]>
  const megabytes: number[] = []
  for (const args of Object.values(programs)) await runToEnd(folder, args) // fills Node's compile cache
  for (let i = 0; i < ROUNDS; i++) {
    for (const [name, args] of Object.entries(programs)) millis[name]?.push(await runToEnd(folder, args))
    await using gatepass = await startGatepass(folder)
    millis.serve?.push(gatepass.startedInMs)
    await sleep(IDLE_MS)
    megabytes.push(gatepass.rssBytes() / 2 ** 20)
  }
  const { bare = [], version = [], token: printed = [], serve = [] } = millis
  const value = (of: readonly number[]) =>
    `${spread(of, whole)} ms, ${(median(of) / median(bare)).toFixed(1)} x node`
  const under = (of: readonly number[], most: number) => ({
    target: `< ${most} ms`,
    met: median(of) < most,
  })
  return [
    { name: 'start: node -e 0', value: `${spread(bare, whole)} ms` },
    { name: 'start: gatepass --version', value: value(version), ...under(version, MOST_VERSION_MS) },
    { name: 'start: gatepass token', value: value(printed), ...under(printed, MOST_TOKEN_MS) },
    { name: 'start: gatepass serve, until /health answers', value: value(serve) },
    {
      name: 'memory when idle (RSS)',
      value: `${spread(megabytes, whole)} MB`,
      target: `<= ${MOST_MEGABYTES} MB`,
      met: median(megabytes) <= MOST_MEGABYTES,
      disturbed: false,
    },
  ]
}

async function runToEnd(folder: string, args: readonly string[]): Promise<number> {
  const begun = performance.now()
  await using started = startNode(args, { env: environmentFor(folder, 8400), stdio: 'ignore' })
  const [code] = await once(started.child, 'exit')
  if (code !== 0) throw new Error(`${args.join(' ')} ended with exit code ${code}`)
  return performance.now() - begun
}
