// `npm run history -- --seed 7 --runs 5 --seconds 10 --database postgres` runs many clients under random faults and
// checks their histories. The same seed makes the same choices, but not the same timing. It stops at the first run with
// a violation (with `--keep-going` after all runs), and prints the part of the history that shows it.

import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { startReplicated } from './replicated.ts'
import { type RunReport, runHistory } from './run.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    runs: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '8' },
    /** `both`: the runs alternate. */
    database: { type: 'string', default: 'both' },
    'keep-going': { type: 'boolean', default: false },
  },
})
const DATABASES = { sqlite: ['SQLite'], postgres: ['PostgreSQL'], both: ['SQLite', 'PostgreSQL'] } as const
const databases = DATABASES[values.database as keyof typeof DATABASES]
const [runs, seconds] = [Number(values.runs), Number(values.seconds)]
const first = values.seed === undefined ? randomInt(1_000_000) : Number(values.seed)
if (databases === undefined || !(runs >= 1) || !(seconds > 0) || !Number.isInteger(first)) {
  process.stderr.write(
    'Usage: npm run history -- [--seed N] [--runs N] [--seconds S] [--database sqlite|postgres|both] [--keep-going]\n',
  )
  process.exit(2)
}

const totals = new Map<string, number>()
let failed = 0
for (let run = 0; run < runs; run++) {
  const kind = databases[run % databases.length] ?? 'SQLite'
  const seed = first + run
  const began = performance.now()
  const report =
    kind === 'PostgreSQL' ? await onPostgres(seed) : await runHistory({ kind: 'SQLite', seed, seconds })
  tell(seed, kind, report, performance.now() - began)
  if (report.violations.length > 0) failed++
  if (failed > 0 && !values['keep-going']) break
}
process.stdout.write(`\nin all: ${[...totals].map(([name, count]) => `${count} ${name}`).join(', ')}\n`)
process.stdout.write(`${failed} of ${runs} runs with violations\n`)
process.exitCode = failed > 0 ? 1 : 0

/** Each run has a server of its own, which may fail over; in every third run to a standby that is behind. */
async function onPostgres(seed: number): Promise<RunReport> {
  await using server = await startReplicated()
  const mayLose = seed % 3 === 0
  return await runHistory({ kind: 'PostgreSQL', seed, seconds, databaseUrl: server.url, server, mayLose })
}

function tell(seed: number, kind: string, { violations, counts }: RunReport, ms: number): void {
  for (const [name, count] of Object.entries(counts))
    if (!name.startsWith('ms ')) totals.set(name, (totals.get(name) ?? 0) + count)
  const told = Object.entries(counts).map(([name, count]) => `${count} ${name}`)
  process.stdout.write(`seed ${seed}, ${kind}, ${(ms / 1000).toFixed(1)} s: ${told.join(', ')}\n`)
  for (const { promise, what, excerpt } of violations)
    process.stdout.write(
      `  VIOLATION of ${promise}: ${what}\n${excerpt.map((line) => `    ${line}\n`).join('')}`,
    )
}
