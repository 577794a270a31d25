import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startPostgres } from '../test/postgres-cluster.ts'
import { startBare } from './bare.ts'
import type { Bench } from './bench.ts'
import { fetchFrom } from './fetching.ts'
import { startGatepass } from './gatepass.ts'
import { WARM_UP_MS } from './pace.ts'
import { copyDatabase, copyToPostgres } from './postgres.ts'
import { cpuMsOf } from './process.ts'
import { type Figure, median, spread, whole } from './report.ts'
import { cpuOf, type Round, rateOf, ratios } from './rounds.ts'
import { databaseIn } from './seed.ts'

const ROUNDS = 5
/** A load process that spins would take a core from the second process and from PostgreSQL. */
const generator = 'asleep'

/**
 * The fresh-token fetch on SQLite and on PostgreSQL, with one process and with two, each on a database of its own. All of
 * them run at once and are measured one after the other.
 */
export async function databases({ folder, load }: Bench): Promise<Figure[]> {
  await using postgres = await startPostgres({ durable: true })
  const one = await copyToPostgres(postgres, databaseIn(folder))
  const two = await copyDatabase(postgres, one)
  const copied = join(folder, 'two-processes')
  await mkdir(copied)
  await copyFile(databaseIn(folder), databaseIn(copied))

  await using bare = await startBare(folder)
  await using sqlite1 = await startGatepass(folder)
  await using sqlite2 = await startGatepass(copied, { processes: 2 })
  await using postgres1 = await startGatepass(folder, { database: one })
  await using postgres2 = await startGatepass(folder, { database: two, processes: 2 })
  const measured = [
    { name: 'SQLite, 1 process', server: sqlite1 },
    { name: 'SQLite, 2 processes', server: sqlite2 },
    { name: 'PostgreSQL, 1 process', server: postgres1, database: await postgres.processId() },
    { name: 'PostgreSQL, 2 processes', server: postgres2, database: await postgres.processId() },
  ].map((one) => ({ ...one, rounds: [] as Round[], databaseMicros: [] as number[] }))

  await fetchFrom(load, bare, { ms: WARM_UP_MS / 2 })
  for (const { server } of measured) await fetchFrom(load, server, { ms: WARM_UP_MS })
  const bareRounds: Round[] = []
  for (let i = 0; i < ROUNDS; i++) {
    bareRounds.push(await fetchFrom(load, bare, { generator }))
    for (const { server, database, rounds, databaseMicros } of measured) {
      const before = database === undefined ? 0 : cpuMsOf(database)
      const round = await fetchFrom(load, server, { generator })
      rounds.push(round)
      if (database !== undefined) databaseMicros.push(((cpuMsOf(database) - before) * 1000) / round.answered)
    }
  }

  return [
    { name: 'fetches by database and processes: bare hono, requests per second', value: rateOf(bareRounds) },
    ...measured.flatMap(({ name, rounds, databaseMicros }) => [
      {
        name: `  ${name}: ratio to bare hono`,
        value: spread(ratios(rounds, bareRounds), (value) => value.toFixed(2)),
      },
      {
        name: `    requests per second, server CPU per request${databaseMicros.length > 0 ? ", PostgreSQL's own" : ''}`,
        value: [
          rateOf(rounds),
          `${cpuOf(rounds)} us`,
          ...(databaseMicros.length > 0 ? [`${whole(median(databaseMicros))} us`] : []),
        ].join(', '),
      },
    ]),
  ]
}
