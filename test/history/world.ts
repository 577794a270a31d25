import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AnyJson } from '../any-json.ts'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { type FakeWorker, startFakeWorker, type WorkerTool } from '../fake-worker.ts'
import { addProvider } from '../faults/clients.ts'
import { type DatabaseKind, type Installation, install, KILL_AT, type Node } from '../faults/installation.ts'

import { API_KEY } from '../served.ts'
import type { Choices } from './choices.ts'
import type { Fault, Refresh, ToolCall } from './history.ts'
import { type Link, openLink } from './link.ts'

const CLOCK = new URL('./clock-apart.ts', import.meta.url).href
const WORKER_SECRET = 'the secret of the worker'
const LIFE_SECONDS = 2
/** How far the clocks of the nodes on PostgreSQL are ahead of the true time. */
const CLOCKS_AHEAD = [0, 0, 20, -20, 180, -180]

/** A place for one process; a process that was killed is replaced by one with the same environment and link. */
interface Slot {
  node: Node
  readonly link: Link | undefined
  readonly environment: Readonly<Record<string, string>>
}

/** Three nodes on PostgreSQL or two on SQLite, the servers that they talk to, and what these servers recorded. */
export interface World extends AsyncDisposable {
  readonly kind: DatabaseKind
  readonly installation: Installation
  readonly as: FakeAuthorizationServer
  readonly slots: readonly Slot[]
  readonly calls: ToolCall[]
  /** An API key of the role `approver`. */
  readonly approver: string
  readonly refreshes: Refresh[]
  readonly faults: Fault[]
  /** For how long the provider holds each refresh, before and after it has carried it out. */
  readonly holdMs: { arrived: number; carriedOut: number }
  /** Milliseconds since the world began. */
  now(): number
  /** Sets the clock of all processes on SQLite this far ahead of the true time. */
  setClock(seconds: number): Promise<void>
  /** Starts a process in the slot of one that was killed. */
  restart(slot: number): Promise<void>
  /** Sends a request to one process; `undefined`: there was no answer in time. */
  ask(slot: number, method: string, path: string, options?: AskOptions): Promise<Answer | undefined>
}

export interface AskOptions {
  readonly body?: object
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly requestId: string
  readonly body: AnyJson
}

const TIMEOUT_MS = 8_000

export async function openWorld(
  kind: DatabaseKind,
  choices: Choices,
  databaseUrl: string | undefined,
): Promise<World> {
  const began = performance.now()
  const now = () => performance.now() - began
  const as = await startFakeAuthorizationServer({
    refresh: 'rotate-strict',
    accessTokenLifetime: LIFE_SECONDS,
  })
  const calls: ToolCall[] = []
  let approver = ''
  const refreshes: Refresh[] = []

  const worker = await startWorker(calls, now)
  const holdMs = { arrived: 0, carriedOut: 0 }
  watchRefreshes(as, refreshes, holdMs, now)
  const installation = await install(kind, {}, databaseUrl)
  const slots: Slot[] = []
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-clock-'))
  const clock = join(folder, 'ahead')
  const setClock = async (seconds: number) => {
    await writeFile(`${clock}.new`, String(seconds))
    await rename(`${clock}.new`, clock)
  }
  await setClock(0)

  const environmentOf = (link: Link | undefined): Record<string, string> => {
    if (link === undefined || databaseUrl === undefined) return { TEST_CLOCK_FILE: clock }
    const url = new URL(databaseUrl)
    url.port = String(link.port)
    return { GATEPASS_DATABASE_URL: url.href, TEST_CLOCK_AHEAD: String(choices.of(CLOCKS_AHEAD)) }
  }
  const start = (environment: Readonly<Record<string, string>>) =>
    installation.start({ environment, nodeArgs: ['--import', CLOCK, '--import', KILL_AT] })

  const world: World = {
    kind,
    installation,
    as,
    slots,
    calls,
    get approver() {
      return approver
    },
    refreshes,
    faults: [],
    holdMs,
    now,
    setClock,
    async restart(slot) {
      const known = slots[slot]
      if (known !== undefined) known.node = await start(known.environment)
    },
    async ask(slot, method, path, { body, key = API_KEY, headers = {} } = {}) {
      const url = slots[slot]?.node.url
      try {
        const response = await fetch(`${url}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'application/json',
            connection: 'close',
            ...headers,
          },
          signal: AbortSignal.timeout(TIMEOUT_MS),
          ...(body && { body: JSON.stringify(body) }),
        })
        const text = await response.text()
        return {
          status: response.status,
          requestId: response.headers.get('x-request-id') ?? '',
          body: text === '' ? {} : JSON.parse(text),
        }
      } catch {
        return undefined
      }
    },
    async [Symbol.asyncDispose]() {
      for (const { node, link } of slots) {
        link?.restore()
        if (node.isRunning) process.kill(node.pid, 'SIGCONT')
      }
      await installation[Symbol.asyncDispose]()
      for (const { link } of slots) await link?.close()
      await Promise.all([as.close(), worker.close()])
      await rm(folder, { recursive: true })
    },
  }
  try {
    const count = kind === 'PostgreSQL' ? 3 : 2
    for (let i = 0; i < count; i++) {
      const link = databaseUrl === undefined ? undefined : await openLink(Number(new URL(databaseUrl).port))
      const environment = environmentOf(link)
      slots.push({ node: await start(environment), link, environment })
      if (i === 0) approver = await prepare(installation, as, worker)
    }
  } catch (error) {
    await world[Symbol.asyncDispose]()
    throw error
  }
  return world
}

async function prepare(
  installation: Installation,
  as: FakeAuthorizationServer,
  worker: FakeWorker,
): Promise<string> {
  await addProvider(installation, as)
  const http = { uri: worker.url, secret: WORKER_SECRET, timeout: 30, retry: 0 }
  const { status, body } = await installation.call('POST', '/v1/workers', { id: 'counts', http })
  if (status !== 201) throw new Error(`the worker was refused: ${JSON.stringify(body)}`)
  const key = await installation.call('POST', '/v1/admin/keys', { role: 'approver', name: 'approver' })
  const approve = { by: { group: 'security' }, remember: ['once', 'hour'] }
  const policy = { id: 'approve', effect: 'approve', match: { tools: Object.values(APPROVED) }, approve }
  const made = await installation.call('POST', '/v1/admin/policies', policy)
  if (made.status !== 201) throw new Error(`the policy was refused: ${JSON.stringify(made.body)}`)
  return key.body.key
}

/** Tools that a person must approve; the second may be repeated. */
export const APPROVED = { once: 'Demo.ApprovedOnce', again: 'Demo.ApprovedAgain' }

/** Tools, of which those that end in `Again` may be repeated. The argument `key` of a call names its request or scheduled run. */
async function startWorker(calls: ToolCall[], now: () => number): Promise<FakeWorker> {
  const tool = (name: string, isSafe: boolean): WorkerTool => ({
    name,
    description: 'Counts its calls.',
    parameters: [{ name: 'key', val_type: 'string', required: true }],
    behavior: { idempotent: isSafe, ...(name.startsWith('Approved') && { destructive: false }) },
    async run({ key }) {
      calls.push({ at: now(), key: String(key), isSafe })
      await sleep(20 + Math.random() * 60)
      return { value: key }
    },
  })
  const tools = [
    tool('Once', false),
    tool('Again', true),
    tool('ApprovedOnce', false),
    tool('ApprovedAgain', true),
  ]
  return startFakeWorker({ secret: WORKER_SECRET, tools })
}

/** Holds each refresh for as long as `holdMs` says, and records when it arrived and ended, and which token it issued. */
function watchRefreshes(
  as: FakeAuthorizationServer,
  refreshes: Refresh[],
  holdMs: World['holdMs'],
  now: () => number,
): void {
  as.behaviour.onRefresh = (moment, refreshToken) => {
    if (moment === 'arrived') {
      refreshes.push({ refreshToken, arrived: now(), ended: Number.POSITIVE_INFINITY })
      return holdMs.arrived > 0 ? sleep(holdMs.arrived) : undefined
    }
    const held = holdMs.carriedOut
    const at = refreshes.findIndex(
      (one) => one.refreshToken === refreshToken && one.ended === Number.POSITIVE_INFINITY,
    )
    const known = refreshes[at]
    const issued = as.refreshed.at(-1)
    if (known !== undefined)
      refreshes[at] = {
        ...known,
        ended: now() + held,
        ...(issued?.used === refreshToken && { issued: issued.accessToken }),
      }
    return held > 0 ? sleep(held) : undefined
  }
}
