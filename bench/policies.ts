import { adminOf } from './admin.ts'
import type { Bench } from './bench.ts'
import { disturbance } from './compared.ts'
import { fetchFrom } from './fetching.ts'
import { type Gatepass, startGatepass } from './gatepass.ts'
import { WARM_UP_MS } from './pace.ts'
import { type Figure, median, spread, whole } from './report.ts'
import { medianOf, type Round, repeat } from './rounds.ts'
import { seedOwn } from './seed.ts'

const COUNTS = [0, 100, 1_000]
const ROUNDS = 5
/** How much more processor time a fetch may take than one without any policy. */
const MOST = 1.1

/** Fetches in projects with policies of which none can match. */
export async function policies(bench: Bench): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack()
  const servers: Gatepass[] = []
  for (const count of COUNTS) {
    const own = await seedOwn(bench, `policies-${count}`)
    const server = stack.use(await startGatepass(own))
    const admin = adminOf(server.port)
    for (let i = 0; i < count; i++) await admin('POST', '/v1/admin/policies', policy(i))
    await fetchFrom(bench.load, server, { ms: WARM_UP_MS / 2 })
    servers.push(server)
  }
  const repeated = await repeat(
    ROUNDS,
    async () => {
      const rounds: Round[] = []
      for (const server of servers) rounds.push(await fetchFrom(bench.load, server))
      return rounds
    },
    (rounds) => Math.max(...rounds.map(({ others }) => others)),
  )
  const cpuOf = (rounds: readonly Round[], i: number) => rounds[i]?.cpuMicros ?? Number.NaN
  const micros = COUNTS.map((_, i) => median(repeated.values.map((rounds) => cpuOf(rounds, i))))
  const growth = repeated.values.map((rounds) => cpuOf(rounds, COUNTS.length - 1) / cpuOf(rounds, 0))
  return [
    {
      name: `fetch beside ${whole(COUNTS.at(-1) ?? 0)} policies that cannot match: processor time, compared with none`,
      value: spread(growth, (value) => value.toFixed(2)),
      target: `at most ${MOST}`,
      met: median(growth) <= MOST,
      disturbed: !repeated.isQuiet,
    },
    {
      name: `  processor time of a fetch with ${COUNTS.map(whole).join(' / ')} policies`,
      value: `${micros.map(whole).join(' / ')} us`,
    },
    {
      name: '  requests per second',
      value: servers
        .map((_, i) =>
          whole(
            medianOf(
              repeated.values.map((one) => one[i] as Round),
              ({ rate }) => rate,
            ),
          ),
        )
        .join(' / '),
    },
    ...disturbance(repeated),
  ]
}

/** Policies of the kinds that operators write: for some users, tools, other providers, and by a pattern. */
function policy(i: number): object {
  const matches = [
    { users: [`nobody-${i}@example.org`] },
    { tools: [`Other${i}.*`] },
    { providers: [`other-${i}`] },
    { users: [`*-${i}@elsewhere.example`], uses: ['tool'] },
  ]
  return { id: `bench-${i}`, effect: 'deny', match: matches[i % matches.length] }
}
