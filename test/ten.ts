// `npm run test:ten`: runs `npm test` ten times in a row (`--runs 4`: four times; `--all`: all files), each time with
// another seed for the property tests, and in the second half of the runs beside four processes that keep the cores busy
// (`--busy 1`: beside one). Prints a line for each run and the failed tests, and exits with 1 when a run failed.

import { execFileSync, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10' },
    busy: { type: 'string', default: '4' },
    all: { type: 'boolean', default: false },
  },
})
const runs = Number(values.runs)
const busyProcesses = Number(values.busy)
if (!(Number.isInteger(runs) && runs > 0)) throw new Error('--runs takes a whole number')
if (!(Number.isInteger(busyProcesses) && busyProcesses >= 0)) throw new Error('--busy takes a whole number')

interface RunResult {
  readonly code: number | null
  readonly seconds: number
  readonly passed: number
  readonly failures: readonly string[]
}

/** The parts of vitest's JSON report that are read here. */
interface Report {
  readonly numPassedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly {
      readonly status: string
      readonly fullName: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

if (values.all) execFileSync(process.execPath, [join(root, 'test/packages/install.ts')], { stdio: 'inherit' })

/** As `npm test`, or every file. */
const SET = values.all ? [] : ['--mode', 'short']

async function runOnce(folder: string, seed: number): Promise<RunResult> {
  const file = join(folder, 'report.json')
  await rm(file, { force: true })
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const since = performance.now()
  const child = spawn(process.execPath, [vitest, 'run', ...SET, '--reporter=json', `--outputFile=${file}`], {
    cwd: root,
    env: { ...process.env, TEST_SEED: String(seed) },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  const [code] = await once(child, 'exit')
  const seconds = (performance.now() - since) / 1000
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) return { code, seconds, passed: 0, failures: ['vitest wrote no report'] }
  const report = JSON.parse(text) as Report
  return { code, seconds, passed: report.numPassedTests, failures: failuresOf(report) }
}

function failuresOf({ testResults }: Report): string[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const path = name.replace(root, '')
    const failed = assertionResults.filter((one) => one.status === 'failed')
    // a file whose set-up failed has no failed test of its own
    if (failed.length === 0) return status === 'failed' ? [`${path}: ${message}`] : []
    return failed.map(({ fullName, failureMessages: [first = ''] }) => `${path}: ${fullName}\n  ${first}`)
  })
}

const folder = await mkdtemp(join(tmpdir(), 'gatepass-ten-'))
let failedRuns = 0
console.log('| run | seed | beside it | seconds | passed | failed |\n| --- | --- | --- | --- | --- | --- |')
for (let run = 1; run <= runs; run++) {
  const isBusy = run > runs / 2
  const busy = Array.from({ length: isBusy ? busyProcesses : 0 }, () =>
    spawn(process.execPath, ['-e', 'const { ppid } = process; while (process.ppid === ppid);'], {
      stdio: 'ignore',
    }),
  )
  const seed = randomInt(2 ** 31)
  const { code, seconds, passed, failures } = await runOnce(folder, seed).finally(() => {
    for (const child of busy) child.kill('SIGKILL')
  })
  const beside = isBusy ? `${busyProcesses} busy processes` : 'nothing'
  console.log(`| ${run} | ${seed} | ${beside} | ${seconds.toFixed(0)} | ${passed} | ${failures.length} |`)
  for (const failure of failures) console.log(failure)
  if (code !== 0) failedRuns++
}
await rm(folder, { recursive: true, force: true })
console.log(`\n${runs - failedRuns} of ${runs} runs passed.`)
if (failedRuns > 0) process.exitCode = 1
