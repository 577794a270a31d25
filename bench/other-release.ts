import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { startBare } from './bare.ts'
import type { Bench } from './bench.ts'
import { callsTo } from './calls.ts'
import { COLD_USERS, coldRounds, NEARLY_NO_CACHE } from './cold-fetch.ts'
import { executeFor } from './execute.ts'
import { fetchFrom } from './fetching.ts'
import { startGatepass } from './gatepass.ts'
import { WARM_UP_MS } from './pace.ts'
import { USERS, userName } from './people.ts'
import { type Figure, median, spread } from './report.ts'
import { cpuOf, type Round, rateOf, ratios } from './rounds.ts'
import { seedOwn } from './seed.ts'
import { CROWD, startToolSide } from './tool-side.ts'

/** Many short rounds, so that other programs on the machine disturb both servers alike. */
const ROUNDS = 15
const ROUND_MS = 1_000
/** How long the worker takes for each answer. */
const WORKER_MS = 2
const LEAST_RATIO = 0.9

/**
 * The fresh-token fetch and the run of a tool of this checkout as ratios to those of another commit, which must have a
 * bench that seeds as this one does: each on a database that it has seeded itself, one round of each after the other.
 */
export async function againstRelease(ref: string, bench: Bench): Promise<Figure[]> {
  const checkout = await checkOut(ref, bench.folder)
  return [
    ...(await warmAgainst(ref, checkout, bench)),
    ...(await coldAgainst(ref, checkout, bench)),
    ...(await executeAgainst(ref, checkout, bench)),
  ]
}

async function warmAgainst(ref: string, checkout: URL, { folder, load, upstream }: Bench): Promise<Figure[]> {
  const otherFolder = join(folder, 'other-database')
  await mkdir(otherFolder)
  const other: typeof import('./seed.ts') = await import(new URL('bench/seed.ts', checkout).href)
  await other.seed(otherFolder, upstream.port)
  const people = new URL('bench/people.ts', checkout).href

  await using bare = await startBare(folder)
  await using before = await startGatepass(otherFolder, { checkout })
  await using now = await startGatepass(folder)
  const options = { bare: {}, before: { people }, now: {} }
  for (const [which, server] of Object.entries({ bare, before, now }))
    await fetchFrom(load, server, { ...options[which as keyof typeof options], ms: WARM_UP_MS })
  const bareRounds: Round[] = []
  const rounds = await inTurn(
    (which) => fetchFrom(load, { before, now }[which], { ...options[which], ms: ROUND_MS }),
    // each is as often right after the bare server as the other
    async () => void bareRounds.push(await fetchFrom(load, bare, { ms: ROUND_MS })),
  )
  return [
    ...figuresOf('fresh-token fetch', ref, rounds),
    {
      name: `  ratio to bare hono: this release, ${ref}`,
      value: `${spread(ratios(rounds.now, bareRounds), twoDigits)}, ${spread(ratios(rounds.before, bareRounds), twoDigits)}`,
    },
  ]
}

interface BothRounds {
  readonly before: Round[]
  readonly now: Round[]
}

/** Measures the two releases in turn; `first` is done before each pair. */
async function inTurn(
  measure: (which: keyof BothRounds) => Promise<Round>,
  first: () => Promise<void> = async () => {},
): Promise<BothRounds> {
  const rounds: BothRounds = { before: [], now: [] }
  for (let i = 0; i < ROUNDS; i++) {
    await first()
    const order = i % 2 === 0 ? (['before', 'now'] as const) : (['now', 'before'] as const)
    for (const which of order) rounds[which].push(await measure(which))
  }
  return rounds
}

/** The ratio is of processor time, which other programs of the machine disturb less than the rate. */
function figuresOf(job: string, ref: string, { before, now }: BothRounds): Figure[] {
  const times = ratios(before, now, ({ cpuMicros }) => cpuMicros)
  return [
    {
      name: `${job}: server CPU per request of ${ref} as a ratio to this release's`,
      value: spread(times, twoDigits),
      target: `>= ${LEAST_RATIO}`,
      met: median(times) >= LEAST_RATIO,
    },
    { name: `  requests per second: this release, ${ref}`, value: `${rateOf(now)}, ${rateOf(before)}` },
    {
      name: `  server CPU per request: this release, ${ref}`,
      value: `${cpuOf(now)} us, ${cpuOf(before)} us`,
    },
  ]
}

const twoDigits = (value: number) => value.toFixed(2)

/** The same for users who are in no cache: each of the two on a database with more users than its cache holds. */
async function coldAgainst(ref: string, checkout: URL, bench: Bench): Promise<Figure[]> {
  const other: typeof import('./seed.ts') = await import(new URL('bench/seed.ts', checkout).href)
  const otherFolder = await seedOwn(bench, 'cold-before', COLD_USERS, other)
  const folder = await seedOwn(bench, 'cold-now', COLD_USERS)
  await using before = await startGatepass(otherFolder, { checkout, settings: NEARLY_NO_CACHE })
  await using now = await startGatepass(folder, { settings: NEARLY_NO_CACHE })
  const fetchCold = {
    before: coldRounds(bench.load, before, { people: new URL('bench/people.ts', checkout).href }),
    now: coldRounds(bench.load, now),
  }
  for (const round of Object.values(fetchCold)) await round(WARM_UP_MS)
  const rounds = await inTurn((which) => fetchCold[which](ROUND_MS))
  return figuresOf('users who are in no cache', ref, rounds)
}

/** Runs of a tool, warm: 32 at once and one at a time. */
async function executeAgainst(ref: string, checkout: URL, bench: Bench): Promise<Figure[]> {
  const other: typeof import('./seed.ts') = await import(new URL('bench/seed.ts', checkout).href)
  const otherPeople: typeof import('./people.ts') = await import(new URL('bench/people.ts', checkout).href)
  const otherFolder = await seedOwn(bench, 'execute-before', USERS, other)
  await using before = await startToolSide(otherFolder, { answerMs: WORKER_MS, checkout })
  await using now = await startToolSide(await seedOwn(bench, 'execute-now', USERS), { answerMs: WORKER_MS })
  const requests = {
    before: Array.from({ length: USERS }, (_, i) => executeFor(otherPeople.userName(i))),
    now: Array.from({ length: USERS }, (_, i) => executeFor(userName(i))),
  }
  const run = (which: 'before' | 'now', connections: number, ms: number) =>
    callsTo(bench.load, { before, now }[which].gatepass, {
      requests: requests[which],
      expects: 'Hello, Ada!',
      generator: 'asleep',
      connections,
      ms,
    })
  for (const which of ['before', 'now'] as const) await run(which, CROWD, WARM_UP_MS)
  const figures: Figure[] = []
  for (const connections of [CROWD, 1]) {
    const rounds = await inTurn((which) => run(which, connections, ROUND_MS))
    figures.push(...figuresOf(`execute, ${connections} at once, warm`, ref, rounds))
  }
  return figures
}

/**
 * The files of that commit, with the packages of this checkout; removed with the folder. A commit that needs other packages
 * is given as the folder in which it and they are installed.
 */
async function checkOut(ref: string, folder: string): Promise<URL> {
  if (existsSync(join(ref, 'package.json'))) return pathToFileURL(`${resolve(ref)}/`)
  const here = fileURLToPath(new URL('..', import.meta.url))
  const path = join(folder, 'other-release')
  const archive = join(folder, 'other-release.tar')
  await mkdir(path)
  execFileSync('git', ['archive', `--output=${archive}`, ref], { cwd: here })
  execFileSync('tar', ['-xf', archive, '-C', path])
  await symlink(join(here, 'node_modules'), join(path, 'node_modules'))
  return pathToFileURL(`${path}/`)
}
