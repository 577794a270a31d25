import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { vi } from 'vitest'
import { runProgram } from '../../src/cli/program.ts'
import { freePort } from '../ports.ts'
import { compileCacheOf, programPath } from '../served.ts'

const READY_MS = 300_000

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface Started {
  /** Resolves with what standard output matched. */
  prints(pattern: RegExp): Promise<RegExpExecArray>
  /** Resolves with what standard error matched. */
  reports(pattern: RegExp): Promise<RegExpExecArray>
  readonly ended: Promise<Outcome>
  stop(): Promise<Outcome>
}

/** One installation: an empty directory with its own database and port, and the real program on it. */
export interface Installation extends AsyncDisposable {
  readonly directory: string
  readonly url: string
  run(...args: readonly string[]): Promise<Outcome>
  runWith(options: RunOptions, ...args: readonly string[]): Promise<Outcome>
  /** As `run`, in this process, for tests in which the process itself does not matter (see `runHere`). */
  runHere(...args: readonly string[]): Promise<Outcome>
  runHereWith(options: Pick<RunOptions, 'env' | 'stdin'>, ...args: readonly string[]): Promise<Outcome>
  start(...args: readonly string[]): Started
  startWith(options: RunOptions, ...args: readonly string[]): Started
  /** Pipes its standard output into a shell command; the exit code is that of Gatepass. */
  pipe(into: string, ...args: readonly string[]): Promise<Outcome>
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** Default: the bundle of the tests, which starts in half the time of the sources. */
  readonly program?: string
}

let lastRunHere: Promise<unknown> = Promise.resolve()

/**
 * Runs a command in this process, which takes a tenth of the time of starting one. Standard output and error are
 * captured, except the lines of the log, which go to the file descriptor; relative paths are those of the tests.
 * Commands run one after another, because they share the streams.
 */
export function runHere(
  environment: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<Outcome> {
  return runHereReading(undefined, environment, args)
}

/** As `runHere`, with this text on standard input; `undefined`: with that of this process, which a test may replace. */
export function runHereReading(
  stdin: string | undefined,
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<Outcome> {
  const outcome = lastRunHere.then(async () => {
    const input =
      stdin === undefined
        ? undefined
        : vi
            .spyOn(process, 'stdin', 'get')
            .mockReturnValue(Readable.from(stdin === '' ? [] : [Buffer.from(stdin)]) as typeof process.stdin)
    const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    const err = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    try {
      const code = await runProgram(['node', 'gatepass', ...args], { environment })
      return { code, stdout: out.mock.calls.join(''), stderr: err.mock.calls.join('') }
    } finally {
      input?.mockRestore()
      out.mockRestore()
      err.mockRestore()
    }
  })
  lastRunHere = outcome.catch(() => {})
  return outcome
}

export async function install(): Promise<Installation> {
  const directory = mkdtempSync(join(tmpdir(), 'gatepass-cli-'))
  const port = await freePort()
  const bundle = await programPath()
  const running = new Set<Started>()
  const settings = {
    GATEPASS_PORT: String(port),
    GATEPASS_DATABASE_URL: `file:${join(directory, 'x.db')}`,
  }

  function start(options: RunOptions, args: readonly string[]): Started {
    return startProgram(options, process.execPath, [options.program ?? bundle, ...args])
  }

  function startProgram(
    { env = {}, stdin = '' }: RunOptions,
    program: string,
    args: readonly string[],
  ): Started {
    const child = spawn(program, args, {
      cwd: directory,
      env: {
        PATH: process.env.PATH,
        HOME: directory,
        NODE_COMPILE_CACHE: compileCacheOf(bundle),
        ...settings,
        ...env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    child.stdin.on('error', () => {}).end(stdin)
    const started = follow(child)
    running.add(started)
    void started.ended.finally(() => running.delete(started))
    return started
  }

  return {
    directory,
    url: `http://localhost:${port}`,
    run: (...args) => start({}, args).ended,
    runWith: (options, ...args) => start(options, args).ended,
    runHere: (...args) => runHere(settings, ...args),
    runHereWith: ({ env, stdin = '' }, ...args) => runHereReading(stdin, { ...settings, ...env }, args),
    start: (...args) => start({}, args),
    startWith: (options, ...args) => start(options, args),
    pipe: (into, ...args) =>
      startProgram({}, 'bash', [
        ...['-c', `"$@" | ${into}; exit "\${PIPESTATUS[0]}"`, 'bash'],
        ...[process.execPath, bundle, ...args],
      ]).ended,
    async [Symbol.asyncDispose]() {
      await Promise.all([...running].map((one) => one.stop()))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function follow(child: ChildProcessByStdio<Writable, Readable, Readable>): Started {
  let stdout = ''
  let stderr = ''
  const listeners = new Set<() => void>()
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    for (const listener of listeners) listener()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    for (const listener of listeners) listener()
  })
  const ended = new Promise<Outcome>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? -1, stdout, stderr }))
  })
  function matchOf(pattern: RegExp, text: () => string): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        clearTimeout(timer)
        listeners.delete(match)
        end()
      }
      const match = () => {
        const found = pattern.exec(text())
        if (found !== null) settle(() => resolve(found))
      }
      const missing = () => settle(() => reject(new Error(`no ${pattern} in: ${stdout}\n${stderr}`)))
      const timer = setTimeout(missing, READY_MS)
      listeners.add(match)
      match()
      void ended.then(missing, missing)
    })
  }
  return {
    ended,
    prints: (pattern) => matchOf(pattern, () => stdout),
    reports: (pattern) => matchOf(pattern, () => stderr),
    stop() {
      child.kill()
      return ended
    },
  }
}
