import { startPostgres } from '../test/postgres-cluster.ts'
import { startBare } from './bare.ts'
import type { Bench } from './bench.ts'
import { compared } from './compared.ts'
import type { Draw } from './draws.ts'
import { fetchFrom } from './fetching.ts'
import { type Gatepass, startGatepass } from './gatepass.ts'
import { WARM_UP_MS } from './pace.ts'
import { copyConnections, copyToPostgres } from './postgres.ts'
import { cpuMsOf } from './process.ts'
import { type Figure, median, whole } from './report.ts'
import { alternate } from './rounds.ts'

const ROUNDS = 4
const ROUND_MS = 2_500
const MOST_SEEDING_SECONDS = 60

const LEAST = {
  SQLite: { uniform: 0.15, zipf: 0.22 },
  PostgreSQL: { uniform: 0.13, zipf: 0.18 },
} as const

/** The fetch with many more connections than any cache holds. */
export async function million(bench: Bench): Promise<Figure[]> {
  const { copy, count, seconds, cpuSeconds } = await bench.million()
  const folder = await copy('million-sqlite')
  await using gatepass = await startGatepass(folder)
  const seeding = {
    name: `${whole(count)} connections seeded, sealed as the product seals`,
    value: `${whole(seconds)} s, ${whole(cpuSeconds)} s of processor time`,
    target: `< ${MOST_SEEDING_SECONDS} s`,
    met: seconds < MOST_SEEDING_SECONDS,
  }
  return [seeding, ...(await fetchesOf(bench, 'SQLite', count, gatepass))]
}

export async function millionPostgres(bench: Bench): Promise<Figure[]> {
  const { empty, full, count } = await bench.million()
  await using postgres = await startPostgres({ durable: true })
  const url = await copyToPostgres(postgres, empty)
  await copyConnections(url, full, 'user-%')
  await using gatepass = await startGatepass(bench.folder, { database: url })
  // awaited here: the server is stopped when this function returns
  return await fetchesOf(bench, 'PostgreSQL', count, gatepass, await postgres.processId())
}

async function fetchesOf(
  { load, folder }: Bench,
  database: keyof typeof LEAST,
  count: number,
  gatepass: Gatepass,
  databaseProcess?: number,
): Promise<Figure[]> {
  await using bare = await startBare(folder)
  const figures: Figure[] = []
  for (const draw of ['uniform', 'zipf'] as const satisfies readonly Draw[]) {
    const options = { users: count, draw, ms: ROUND_MS }
    await fetchFrom(load, bare, { ...options, ms: WARM_UP_MS / 2 })
    await fetchFrom(load, gatepass, { ...options, ms: WARM_UP_MS })
    const databaseMicros: number[] = []
    const pairs = await alternate(ROUNDS, {
      async gatepass() {
        const before = databaseProcess === undefined ? 0 : cpuMsOf(databaseProcess)
        const round = await fetchFrom(load, gatepass, options)
        if (databaseProcess !== undefined)
          databaseMicros.push(((cpuMsOf(databaseProcess) - before) * 1000) / round.answered)
        return round
      },
      bare: () => fetchFrom(load, bare, options),
    })
    const name = `fetch, ${whole(count)} connections, ${draw}, ${database}`
    const atLeast = LEAST[database][draw]
    figures.push(...compared({ name, to: 'bare hono POST', atLeast, withTimes: true }, pairs))
    if (databaseMicros.length > 0)
      figures.push({
        name: "  PostgreSQL's own processor time for a request",
        value: `${whole(median(databaseMicros))} us`,
      })
  }
  return figures
}
