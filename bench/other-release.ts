import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { startBare } from './bare.ts'
import type { Bench } from './bench.ts'
import { COLD_USERS, coldRounds, NEARLY_NO_CACHE } from './cold-fetch.ts'
import { fetchFrom, WARM_UP_MS } from './fetching.ts'
import { startGatepass } from './gatepass.ts'
import { type Figure, median, spread } from './report.ts'
import { cpuOf, type Round, rateOf, ratios } from './rounds.ts'
import { seedOwn } from './seed.ts'

/** Many short rounds, so that other programs on the machine disturb both servers alike. */
const ROUNDS = 15
const ROUND_MS = 1_000
const LEAST_RATIO = 0.9
/** The last commit whose store prepared its statements at each call: a cold fetch must cost at most half of its. */
const UNPREPARED = 'f60e141'
const LEAST_RATIO_TO_UNPREPARED = 2

/**
 * The fresh-token fetch of this checkout as a ratio to that of another commit, which must have a bench that seeds as
 * this one does: each on a database that it has seeded itself, one round of each after the other.
 */
export async function fetchAgainst(ref: string, bench: Bench): Promise<Figure[]> {
  const checkout = await checkOut(ref, bench.folder)
  return [...(await warmAgainst(ref, checkout, bench)), ...(await coldAgainst(ref, checkout, bench))]
}

async function warmAgainst(ref: string, checkout: URL, { folder, load, upstream }: Bench): Promise<Figure[]> {
  const otherFolder = join(folder, 'other-database')
  await mkdir(otherFolder)
  const other: typeof import('./seed.ts') = await import(new URL('bench/seed.ts', checkout).href)
  await other.seed(otherFolder, upstream.port)
  const people = peopleOf(checkout)

  await using bare = await startBare(folder)
  await using before = await startGatepass(otherFolder, { checkout })
  await using now = await startGatepass(folder)
  const options = { bare: {}, before: { people }, now: {} }
  for (const [which, server] of Object.entries({ bare, before, now }))
    await fetchFrom(load, server, { ...options[which as keyof typeof options], ms: WARM_UP_MS })
  const rounds = { bare: [] as Round[], before: [] as Round[], now: [] as Round[] }
  for (let i = 0; i < ROUNDS; i++) {
    rounds.bare.push(await fetchFrom(load, bare, { ms: ROUND_MS }))
    // each is as often right after the bare server as the other
    const order = i % 2 === 0 ? (['before', 'now'] as const) : (['now', 'before'] as const)
    for (const which of order)
      rounds[which].push(await fetchFrom(load, { before, now }[which], { ...options[which], ms: ROUND_MS }))
  }

  const ratio = ratios(rounds.now, rounds.before)
  const show = (value: number) => value.toFixed(2)
  return [
    {
      name: `fresh-token fetch as a ratio to that of ${ref}`,
      value: spread(ratio, show),
      target: `>= ${LEAST_RATIO}`,
      met: median(ratio) >= LEAST_RATIO,
    },
    {
      name: `  requests per second: this release, ${ref}, bare`,
      value: `${rateOf(rounds.now)}, ${rateOf(rounds.before)}, ${rateOf(rounds.bare)}`,
    },
    {
      name: `  server CPU per request: this release, ${ref}, bare`,
      value: `${cpuOf(rounds.now)} us, ${cpuOf(rounds.before)} us, ${cpuOf(rounds.bare)} us`,
    },
    {
      name: `  ratio to bare hono: this release`,
      value: spread(ratios(rounds.now, rounds.bare), show),
    },
    {
      name: `  ratio to bare hono: ${ref}`,
      value: spread(ratios(rounds.before, rounds.bare), show),
    },
  ]
}

/** The same for users who are in no cache: each of the two on a database with more users than its cache holds. */
async function coldAgainst(ref: string, checkout: URL, bench: Bench): Promise<Figure[]> {
  const other: typeof import('./seed.ts') = await import(new URL('bench/seed.ts', checkout).href)
  const otherFolder = await seedOwn(bench, 'cold-before', COLD_USERS, other)
  const folder = await seedOwn(bench, 'cold-now', COLD_USERS)
  // a release from before the setting had room for 10,000 users
  const settings = knowsCacheSize(checkout) ? NEARLY_NO_CACHE : {}
  await using before = await startGatepass(otherFolder, { checkout, settings })
  await using now = await startGatepass(folder, { settings: NEARLY_NO_CACHE })
  const fetchCold = {
    before: coldRounds(bench.load, before, { people: peopleOf(checkout) }),
    now: coldRounds(bench.load, now),
  }
  for (const round of Object.values(fetchCold)) await round(WARM_UP_MS)
  const rounds = { before: [] as Round[], now: [] as Round[] }
  for (let i = 0; i < ROUNDS; i++) {
    const order = i % 2 === 0 ? (['before', 'now'] as const) : (['now', 'before'] as const)
    for (const which of order) rounds[which].push(await fetchCold[which](ROUND_MS))
  }
  const least = ref.startsWith(UNPREPARED) ? LEAST_RATIO_TO_UNPREPARED : LEAST_RATIO
  // of CPU time, which other programs of the machine disturb less than the rate
  const times = rounds.now.map(({ cpuMicros }, i) => (rounds.before[i]?.cpuMicros ?? Number.NaN) / cpuMicros)
  return [
    {
      name: `users who are in no cache: server CPU per request of ${ref} as a ratio to this release's`,
      value: spread(times, (value) => value.toFixed(2)),
      target: `>= ${least}`,
      met: median(times) >= least,
    },
    {
      name: `  requests per second: this release, ${ref}`,
      value: `${rateOf(rounds.now)}, ${rateOf(rounds.before)}`,
    },
    {
      name: `  server CPU per request: this release, ${ref}`,
      value: `${cpuOf(rounds.now)} us, ${cpuOf(rounds.before)} us`,
    },
  ]
}

/** The module that has the users: in earlier releases it is `seed.ts`. */
function peopleOf(checkout: URL): string {
  const modules = ['people', 'seed'].map((name) => new URL(`bench/${name}.ts`, checkout))
  return (modules.find((one) => existsSync(one)) ?? checkout).href
}

/** The files of that commit, with the packages of this checkout; removed with the folder. */
async function checkOut(ref: string, folder: string): Promise<URL> {
  const here = fileURLToPath(new URL('..', import.meta.url))
  const path = join(folder, 'other-release')
  const archive = join(folder, 'other-release.tar')
  await mkdir(path)
  execFileSync('git', ['archive', `--output=${archive}`, ref], { cwd: here })
  execFileSync('tar', ['-xf', archive, '-C', path])
  await symlink(join(here, 'node_modules'), join(path, 'node_modules'))
  return pathToFileURL(`${path}/`)
}

function knowsCacheSize(checkout: URL): boolean {
  const [name = ''] = Object.keys(NEARLY_NO_CACHE)
  const pages = ['docs/reference/settings.md', 'docs/settings.md'].map((page) => new URL(page, checkout))
  return pages.some((page) => existsSync(page) && readFileSync(page, 'utf8').includes(name))
}
