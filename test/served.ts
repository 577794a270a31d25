import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from './gatepass.ts'

export const API_KEY = 'test-administrator-key'

const BINARY = fileURLToPath(new URL('../bin/gatepass.js', import.meta.url))

/** `gatepass serve` in a process of its own, as an operator runs it. */
export interface Served extends AsyncDisposable {
  readonly url: string
  readonly pid: number
  /** What it has logged. */
  readonly log: () => string
  call(method: string, path: string, body?: object): Promise<{ status: number; body: ServedBody }>
  /** As an operator ends it: what is under way is finished. */
  stop(): Promise<void>
  kill(): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type ServedBody = any

export interface ServedOptions {
  readonly database: string
  /** Base64, newest first. */
  readonly masterKeys: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** A shell line that runs the command given as "$@", such as one that sets a limit first. */
  readonly shell?: string
}

export async function serveProcess(options: ServedOptions): Promise<Served> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const command = [process.execPath, BINARY, 'serve']
  const [program = '', ...args] =
    options.shell === undefined ? command : ['bash', '-c', options.shell, 'bash', ...command]
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      GATEPASS_PORT: String(port),
      GATEPASS_PUBLIC_URL: url,
      GATEPASS_DATABASE_URL: options.database,
      GATEPASS_MASTER_KEY: options.masterKeys.join(','),
      GATEPASS_API_KEY: API_KEY,
      GATEPASS_USER_VERIFIER: 'open',
      GATEPASS_METRICS: 'open',
      GATEPASS_ALLOWED_HOSTS: '127.0.0.1',
      ...options.environment,
    },
  })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  const served: Served = {
    url,
    pid: child.pid ?? 0,
    log: () => said,
    async call(method, path, body) {
      const response = await fetch(`${url}${path}`, {
        method,
        // a balancer's connections to a node that stops are its own affair: each request has one of its own
        headers: {
          authorization: `Bearer ${API_KEY}`,
          'content-type': 'application/json',
          connection: 'close',
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: await response.json() }
    },
    stop: () => end(child, 'SIGTERM'),
    kill: () => end(child, 'SIGKILL'),
    [Symbol.asyncDispose]: () => end(child, 'SIGKILL'),
  }
  while (!(await isHealthy(url))) {
    if (child.exitCode !== null) throw new Error(`gatepass serve ended: ${said}`)
    await sleep(10)
  }
  return served
}

async function isHealthy(url: string): Promise<boolean> {
  return fetch(`${url}/health`).then(
    (response) => response.ok,
    () => false,
  )
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await gone
}
