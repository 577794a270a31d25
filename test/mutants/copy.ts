import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Mutation, mutate } from './mutation.ts'

const repository = fileURLToPath(new URL('../../', import.meta.url))

/** Longer than the slowest named test. A mutant that makes a test hang counts as noticed. */
const RUN_MS = 240_000

export type Outcome = 'passed' | 'failed' | 'timed out' | { readonly unusable: string }

/** The parts of vitest's JSON report that are read here. */
interface Report {
  readonly testResults: readonly {
    readonly message: string
    readonly assertionResults: readonly { readonly status: string }[]
  }[]
}

/** A copy of the working tree, uncommitted changes included, in which files are mutated and tests are run. */
export class Copy implements AsyncDisposable {
  readonly root: string
  private constructor(root: string) {
    this.root = root
  }

  static async make(): Promise<Copy> {
    const root = await mkdtemp(join(tmpdir(), 'gatepass-mutants-'))
    const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: repository })
    for (const file of listed.toString().split('\0').filter(Boolean)) {
      await mkdir(dirname(join(root, file)), { recursive: true })
      await cp(join(repository, file), join(root, file)).catch((error: NodeJS.ErrnoException) => {
        // git still lists a file that was deleted and not committed yet
        if (error.code !== 'ENOENT') throw error
      })
    }
    await symlink(join(repository, 'node_modules'), join(root, 'node_modules'))
    return new Copy(root)
  }

  /** Applies the mutation, runs the tests it names and puts the file back. */
  async run(mutation: Mutation): Promise<Outcome> {
    const path = join(this.root, mutation.file)
    const original = await readFile(path, 'utf8')
    try {
      const mutated = mutate(original, mutation)
      // a mutant with a syntax error would fail every test and prove nothing
      if (path.endsWith('.ts')) stripTypeScriptTypes(mutated)
      await writeFile(path, mutated)
    } catch (error) {
      return { unusable: String(error) }
    }
    try {
      return await this.test(mutation.test, [mutation.name])
    } finally {
      await writeFile(path, original)
    }
  }

  /** Runs the tests of a file whose full names contain one of `names`. */
  async test(file: string, names: readonly string[]): Promise<Outcome> {
    const report = join(this.root, 'report.json')
    await rm(report, { force: true })
    const pattern = names.map(patternOf).join('|')
    const vitest = join(repository, 'node_modules/vitest/vitest.mjs')
    const options = ['--reporter=json', `--outputFile=${report}`, '--testTimeout=60000', '-t', pattern]
    const child = spawn(process.execPath, [vitest, 'run', `test/${file}`, ...options], {
      cwd: this.root,
      stdio: 'ignore',
      detached: true,
    })
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      // the process group has the servers and browsers of the test too
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }, RUN_MS)
    await once(child, 'exit')
    clearTimeout(timer)
    if (isLate) return 'timed out'
    const text = await readFile(report, 'utf8').catch(() => undefined)
    if (text === undefined) return { unusable: 'vitest wrote no report' }
    return outcomeOf(JSON.parse(text) as Report)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return rm(this.root, { recursive: true, force: true })
  }
}

/** A regular expression for the name as the test file writes it; vitest puts a value in place of the `%s` of `test.each`. */
function patternOf(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/%[a-z]/g, '.*')
}

function outcomeOf({ testResults }: Report): Outcome {
  const statuses = testResults.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status))
  if (statuses.includes('failed')) return 'failed'
  const message = testResults.map((result) => result.message).find(Boolean)
  if (message !== undefined) return { unusable: `the test file did not run: ${message.slice(0, 500)}` }
  return statuses.includes('passed') ? 'passed' : { unusable: 'no test has this name' }
}
