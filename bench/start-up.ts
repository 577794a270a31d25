import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from './bench.ts'
import { disturbance } from './compared.ts'
import { programIn, startGatepass } from './gatepass.ts'
import { watchOthers } from './machine.ts'
import { PROVIDER_ID, userName } from './people.ts'
import { startNode } from './process.ts'
import { type Figure, median, spread, whole } from './report.ts'
import { repeat } from './rounds.ts'
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
  for (const args of Object.values(programs)) await runToEnd(folder, args) // fills Node's compile cache
  const repeated = await repeat(
    ROUNDS,
    async () => {
      const othersSince = watchOthers()
      const [bare, version, token] = [
        await runToEnd(folder, programs.bare),
        await runToEnd(folder, programs.version),
        await runToEnd(folder, programs.token),
      ]
      await using gatepass = await startGatepass(folder)
      const others = othersSince()
      await sleep(IDLE_MS)
      return {
        bare,
        version,
        token,
        serve: gatepass.startedInMs,
        idle: gatepass.rssBytes() / 2 ** 20,
        others,
      }
    },
    ({ others }) => others,
  )
  type Measured = (typeof repeated.values)[number]
  const all = (of: keyof Measured) => repeated.values.map((one) => one[of])
  const value = (of: keyof Measured) =>
    `${spread(all(of), whole)} ms, ${(median(all(of)) / median(all('bare'))).toFixed(1)} x node`
  const under = (of: keyof Measured, most: number) => ({
    value: value(of),
    target: `< ${most} ms`,
    met: median(all(of)) < most,
    disturbed: !repeated.isQuiet,
  })
  return [
    { name: 'start: node -e 0', value: `${spread(all('bare'), whole)} ms` },
    { name: 'start: gatepass --version', ...under('version', MOST_VERSION_MS) },
    { name: 'start: gatepass token', ...under('token', MOST_TOKEN_MS) },
    { name: 'start: gatepass serve, until /health answers', value: value('serve') },
    ...disturbance(repeated),
    {
      name: 'memory when idle (RSS)',
      value: `${spread(all('idle'), whole)} MB`,
      target: `<= ${MOST_MEGABYTES} MB`,
      met: median(all('idle')) <= MOST_MEGABYTES,
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
