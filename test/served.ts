import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AnyJson } from './any-json.ts'
import { onDemand } from './on-demand/ask.ts'
import { freePort } from './ports.ts'
import { until } from './until.ts'

export const API_KEY = 'test-administrator-key'
export const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')

/** The program of a checkout, which runs the sources. */
export const CHECKOUT_PROGRAM = fileURLToPath(new URL('../bin/gatepass.js', import.meta.url))
/** The bundle that `program-bundle.ts` makes of the program, which starts in half the processor time. */
export const programPath = async (): Promise<string> => (await onDemand('program')) ?? CHECKOUT_PROGRAM
/** The folder of compiled modules, which halve the processor time of a start. Those of a bundle are removed with it. */
export const compileCacheOf = (program: string): string =>
  program === CHECKOUT_PROGRAM
    ? fileURLToPath(new URL('../node_modules/.cache/node-compile', import.meta.url))
    : join(program, '../compiled')

/** A process of `gatepass serve`, as an operator runs it. */
export interface Served extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly child: ChildProcess
  readonly pid: number
  /** The SQLite file, if `database` was not given. */
  readonly databasePath: string
  /** Its standard error so far. */
  readonly log: () => string
  readonly logLines: () => { readonly [member: string]: unknown }[]
  /** Its standard output so far. */
  readonly printed: () => string
  readonly isRunning: boolean
  /** Resolves when the process has ended and its output has been read. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  get(path: string): Promise<{ status: number; body: string; headers: Headers }>
  /** Calls the API as the administrator, on a new connection. */
  call(method: string, path: string, body?: object): Promise<{ status: number; body: AnyJson }>
  /** Sends SIGTERM, after which the process finishes its requests; returns the exit code. */
  stop(): Promise<number | null>
  kill(): Promise<void>
}

export interface ServeOptions {
  /** Default: the bundle of the program. */
  readonly program?: string
  /** The URL of the database. Without it, a SQLite file in a folder that is removed at the end. */
  readonly database?: string
  /** Base64, newest first. */
  readonly masterKeys?: readonly string[]
  readonly port?: number
  readonly environment?: Readonly<Record<string, string>>
  /** Arguments of `gatepass serve`. */
  readonly args?: readonly string[]
  /** Arguments of Node.js. */
  readonly nodeArgs?: readonly string[]
  /** A command that runs the command of the server, its last arguments, such as a shell that sets a limit first. */
  readonly under?: readonly string[]
  /** Opens a channel to modules that `nodeArgs` import. */
  readonly ipc?: boolean
  /** Whether nothing reads standard output and standard error, so that their pipes fill. */
  readonly isUnread?: boolean
}

/** The process ended before it served. */
export class NotStarted extends Error {
  readonly signal: NodeJS.Signals | null

  constructor(signal: NodeJS.Signals | null, log: string) {
    super(`gatepass serve ended: ${log}`)
    this.signal = signal
  }
}

/**
 * Starts `gatepass serve` and waits until it serves.
 *
 * @throws NotStarted
 */
export async function serveProcess(options: ServeOptions = {}): Promise<Served> {
  const { args = [], nodeArgs = [], under = [], masterKeys = [MASTER_KEY] } = options
  const program = options.program ?? (await programPath())
  const folder = options.database === undefined ? await mkdtemp(join(tmpdir(), 'gatepass-serve-')) : undefined
  const databasePath = join(folder ?? '', 'gatepass.db')
  const port = options.port ?? (await freePort())
  const url = `http://127.0.0.1:${port}`
  const [command = '', ...words] = [...under, process.execPath, ...nodeArgs, program, 'serve', ...args]
  const child = spawn(command, words, {
    stdio: ['ignore', 'pipe', 'pipe', ...(options.ipc ? (['ipc'] as const) : [])],
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: compileCacheOf(program),
      GATEPASS_PORT: String(port),
      GATEPASS_PUBLIC_URL: url,
      GATEPASS_DATABASE_URL: options.database ?? `file:${databasePath}`,
      GATEPASS_MASTER_KEY: masterKeys.join(','),
      GATEPASS_API_KEY: API_KEY,
      GATEPASS_USER_VERIFIER: 'open',
      GATEPASS_METRICS: 'open',
      GATEPASS_ALLOWED_HOSTS: '127.0.0.1',
      ...options.environment,
    },
  })
  let [log, printed] = ['', '']
  if (!options.isUnread) {
    child.stderr?.on('data', (chunk) => {
      log += chunk
    })
    child.stdout?.on('data', (chunk) => {
      printed += chunk
    })
  }
  const isRunning = () => child.exitCode === null && child.signalCode === null
  const exited = once(child, 'exit')
  const ended = once(child, options.isUnread ? 'exit' : 'close').then(([code, signal]) => ({ code, signal }))
  const send = async (signal: NodeJS.Signals) => {
    if (isRunning()) child.kill(signal)
    await exited
  }

  const served: Served = {
    url,
    port,
    child,
    pid: child.pid ?? 0,
    databasePath,
    log: () => log,
    logLines: () =>
      log
        .slice(0, log.lastIndexOf('\n') + 1) // of the last line, perhaps only a part has been read
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line)),
    printed: () => printed,
    get isRunning() {
      return isRunning()
    },
    ended,
    async get(path) {
      const response = await fetch(`${url}${path}`)
      return { status: response.status, body: await response.text(), headers: response.headers }
    },
    async call(method, path, body) {
      const response = await fetch(`${url}${path}`, {
        method,
        // a server that ends may have just closed a connection that was kept alive
        headers: {
          authorization: `Bearer ${API_KEY}`,
          'content-type': 'application/json',
          connection: 'close',
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: await response.json() }
    },
    async stop() {
      await send('SIGTERM')
      return child.exitCode
    },
    kill: () => send('SIGKILL'),
    async [Symbol.asyncDispose]() {
      await send('SIGKILL')
      await ended // waits for its workers too, which hold the pipes open
      if (folder !== undefined) await rm(folder, { recursive: true, force: true })
    },
  }
  const isServing = options.isUnread
    ? () =>
        served.get('/health').then(
          ({ status }) => status === 200,
          () => false,
        )
    : () => log.includes('gatepass is serving')
  try {
    await until(async () => !isRunning() || (await isServing()))
    if (isRunning()) return served
    await ended
    throw new NotStarted(child.signalCode, log)
  } catch (error) {
    await served[Symbol.asyncDispose]()
    throw error
  }
}
