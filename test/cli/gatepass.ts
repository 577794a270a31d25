import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'

const BINARY = fileURLToPath(new URL('../../bin/gatepass.js', import.meta.url))
/** Commands start in two thirds of the time. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/node-compile', import.meta.url))
const READY_MS = 20_000

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface Started {
  /** Resolves with what standard output matched. */
  prints(pattern: RegExp): Promise<RegExpExecArray>
  readonly ended: Promise<Outcome>
  stop(): Promise<Outcome>
}

/** One installation: an empty directory with its own database and port, and the real binary on it. */
export interface Installation extends AsyncDisposable {
  readonly directory: string
  readonly url: string
  run(...args: readonly string[]): Promise<Outcome>
  runWith(options: RunOptions, ...args: readonly string[]): Promise<Outcome>
  start(...args: readonly string[]): Started
  /** With its standard output piped into a shell command; the exit code is the binary's own. */
  pipe(into: string, ...args: readonly string[]): Promise<Outcome>
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
}

export async function install(): Promise<Installation> {
  const directory = mkdtempSync(join(tmpdir(), 'gatepass-cli-'))
  const port = await freePort()
  const running = new Set<Started>()

  function start(options: RunOptions, args: readonly string[]): Started {
    return startProgram(options, process.execPath, [BINARY, ...args])
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
        NODE_COMPILE_CACHE: COMPILED,
        GATEPASS_PORT: String(port),
        GATEPASS_DATABASE_URL: `file:${join(directory, 'x.db')}`,
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
    start: (...args) => start({}, args),
    pipe: (into, ...args) =>
      startProgram({}, 'bash', [
        ...['-c', `"$@" | ${into}; exit "\${PIPESTATUS[0]}"`, 'bash'],
        ...[process.execPath, BINARY, ...args],
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
  const lookers = new Set<() => void>()
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    for (const look of lookers) look()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<Outcome>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? -1, stdout, stderr }))
  })
  return {
    ended,
    prints(pattern) {
      return new Promise((resolve, reject) => {
        const settle = (end: () => void) => {
          clearTimeout(timer)
          lookers.delete(look)
          end()
        }
        const look = () => {
          const match = pattern.exec(stdout)
          if (match !== null) settle(() => resolve(match))
        }
        const missing = () => settle(() => reject(new Error(`no ${pattern} in: ${stdout}\n${stderr}`)))
        const timer = setTimeout(missing, READY_MS)
        lookers.add(look)
        look()
        void ended.then(missing, missing)
      })
    },
    stop() {
      child.kill()
      return ended
    },
  }
}

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error()),
      )
    })
  })
}
