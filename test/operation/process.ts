import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { FakeAuthorizationServer } from '../fake-authorization-server.ts'
import { toolMetadata } from '../fixtures.ts'
import { freePort } from '../gatepass.ts'
import { UserAgent } from '../user-agent.ts'

const BINARY = fileURLToPath(new URL('../../bin/gatepass.js', import.meta.url))
/** Processes start in two thirds of the time. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/node-compile', import.meta.url))
export const API_KEY = 'test-administrator-key'

export interface ServeOptions {
  readonly args?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Put before the command, such as a shell that limits it. */
  readonly under?: readonly string[]
}

/** `gatepass serve` as an operator runs it, in a process and a folder of its own. */
export interface Served extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly databasePath: string
  readonly child: ChildProcess
  /** What it has logged so far. */
  readonly logged: () => string
  readonly logLines: () => { readonly [member: string]: unknown }[]
  readonly printed: () => string
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  get(path: string): Promise<{ status: number; body: string; headers: Headers }>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  call(method: string, path: string, body?: object): Promise<{ status: number; body: any }>
}

export async function serveIn({
  args = [],
  environment = {},
  under = [],
}: ServeOptions = {}): Promise<Served> {
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-serve-'))
  const databasePath = join(folder, 'gatepass.db')
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const [command = '', ...words] = [...under, process.execPath, BINARY, 'serve', ...args]
  const child = spawn(command, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: COMPILED,
      GATEPASS_PORT: String(port),
      GATEPASS_PUBLIC_URL: url,
      GATEPASS_DATABASE_URL: `file:${databasePath}`,
      GATEPASS_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      GATEPASS_API_KEY: API_KEY,
      GATEPASS_USER_VERIFIER: 'open',
      GATEPASS_METRICS: 'open',
      GATEPASS_ALLOWED_HOSTS: '127.0.0.1',
      ...environment,
    },
  })
  let logged = ''
  let printed = ''
  child.stderr.on('data', (chunk) => {
    logged += chunk
  })
  child.stdout.on('data', (chunk) => {
    printed += chunk
  })
  const ended = new Promise<Awaited<Served['ended']>>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  )

  const served: Served = {
    url,
    port,
    databasePath,
    child,
    logged: () => logged,
    logLines: () =>
      logged
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line)),
    printed: () => printed,
    ended,
    async get(path) {
      const response = await fetch(`${url}${path}`)
      return { status: response.status, body: await response.text(), headers: response.headers }
    },
    async call(method, path, body) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: await response.json() }
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
  try {
    await until(() => logged.includes('gatepass is serving') || child.exitCode !== null)
    if (child.exitCode !== null) throw new Error(`gatepass serve has ended: ${logged}`)
    return served
  } catch (error) {
    await served[Symbol.asyncDispose]()
    throw error
  }
}

export async function until(holds: () => Promise<boolean> | boolean, ms = 30_000): Promise<void> {
  const end = Date.now() + ms
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${holds}`)
    await sleep(10)
  }
}

/** The pids of the workers of a primary that serve now, by their number. */
export function workersOf(served: Served): Map<number, number> {
  const lines = served.logLines().filter(({ message }) => message === 'a worker is serving')
  return new Map(lines.map(({ worker, workerPid }) => [Number(worker), Number(workerPid)]))
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

export async function importTool(served: Served, as: FakeAuthorizationServer): Promise<void> {
  const { status } = await served.call('POST', '/v1/tools/import', toolMetadata(as))
  expect(status).toBe(200)
}

export interface Flow {
  readonly id: string
  readonly url: string
  readonly user: string
  readonly browser: UserAgent
}

export async function begin(served: Served, user = 'ada'): Promise<Flow> {
  const { body } = await authorize(served, user)
  expect(body).toMatchObject({ status: 'pending' })
  return { id: body.id, url: body.url, user, browser: new UserAgent() }
}

export function authorize(served: Served, user: string) {
  return served.call('POST', '/v1/auth/authorize', {
    auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } },
    user_id: user,
  })
}

/** The user clicks and approves; the answer is the provider's redirect to the callback. */
export async function approve({ browser, url }: Flow): Promise<string> {
  const isCallback = ({ pathname }: URL) => pathname.startsWith('/callback/')
  const page = await browser.submitForm(await browser.get(url), {}, { until: isCallback })
  return page.hops.at(-1)?.location ?? ''
}

export async function connect(served: Served, user = 'ada'): Promise<string> {
  const { browser, url } = await begin(served, user)
  await browser.submitForm(await browser.get(url))
  const { body } = await served.call('GET', `/v1/connections?user_id=${user}`)
  return body.items[0].id
}

/** Over a connection that is kept, as a client's pool does. */
export function keptConnection(served: Served) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    get(path: string): Promise<{ status: number; connection: string | undefined; body: string }> {
      return new Promise((resolve, reject) => {
        const asked = request(
          `${served.url}${path}`,
          { agent, headers: { authorization: `Bearer ${API_KEY}` } },
          (response) => {
            let body = ''
            response.setEncoding('utf8').on('data', (chunk) => {
              body += chunk
            })
            response.on('end', () =>
              resolve({ status: response.statusCode ?? 0, connection: response.headers.connection, body }),
            )
            response.on('error', reject)
          },
        )
        asked.on('error', reject).end()
      })
    },
    close: () => agent.destroy(),
  }
}
