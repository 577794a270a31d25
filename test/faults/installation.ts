import type { Serializable } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, connect as tcpConnect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { DEFAULT_PROJECT } from '../../src/domain/project.ts'
import { readAudit } from '../../src/flows/audit/read-audit.ts'
import { verifyAudit } from '../../src/flows/audit/verify-audit.ts'
import { openBroker } from '../../src/open-broker.ts'
import { readConfig } from '../../src/read-config.ts'
import type { AnyJson } from '../any-json.ts'
import { freshDatabase, runSql } from '../postgres.ts'
import { API_KEY, MASTER_KEY, type Served, serveProcess } from '../served.ts'
import { until } from '../until.ts'
import type { KillPoint } from './kill-at.ts'

// Gatepass as an operator runs it: processes on one database, behind a load balancer that has the public address. The
// tests of this folder share this module.

export const DATABASES = ['SQLite', 'PostgreSQL'] as const
export type DatabaseKind = (typeof DATABASES)[number]

export const KILL_AT = new URL('./kill-at.ts', import.meta.url).href

export interface Answer {
  readonly status: number
  readonly requestId: string
  readonly retryAfter: string | null
  readonly body: AnyJson
}

/** One process. */
export interface Node
  extends Pick<Served, 'url' | 'pid' | 'get' | 'call' | 'log' | 'kill' | 'stop' | 'ended' | 'isRunning'> {
  /** Sends a message over IPC to the module that was loaded into the process, and returns its reply. */
  ask(question: unknown): Promise<unknown>
  /** Makes the process kill itself at the point; resolves when it has confirmed that, `killed` when it has died. */
  armed(point: KillPoint): Promise<{ readonly killed: Promise<void> }>
}

export interface NodeOptions {
  /** Arguments of Node.js, in place of those that load `kill-at.ts`. */
  readonly nodeArgs?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

export interface Installation extends AsyncDisposable {
  readonly kind: DatabaseKind
  /** The balancer's address, which users, providers and callers use. */
  readonly url: string
  readonly database: string
  /** The running nodes, without those that were withdrawn. */
  readonly nodes: readonly Node[]
  /** Starts a further node; resolves when it serves. */
  start(options?: NodeOptions): Promise<Node>
  /** Makes the balancer open no more connections to the node; returns the function that undoes this. */
  withdraw(node: Node): () => void
  /** Calls the API as the administrator, over the balancer. Throws when no answer arrives. */
  call(method: string, path: string, body?: object): Promise<Answer>
  sql(text: string): Promise<readonly Record<string, unknown>[]>
  /** Ends the claims and leases that dead processes still hold. No living process may hold one: see `lapseLost`. */
  lapse(): Promise<void>
  /**
   * As `lapse`, while living processes may refresh tokens: their leases are kept. Waits until all refreshes that are under
   * way have ended, so all nodes must run.
   */
  lapseLost(): Promise<void>
  /** Waits until no node refreshes a token: a refresh continues after its caller was answered with Retry-After. */
  untilNoRefresh(): Promise<void>
  /** Reads the project's audit trail from the database, in this process. */
  trail(): Promise<Trail>
}

export interface Trail {
  readonly entries: number
  /** Faults in the chain of hashes. */
  readonly faults: readonly string[]
  /** Connections that were marked `refresh_outcome_lost`. */
  readonly outcomesLost: ReadonlySet<string>
  /** The entries of releases, of refreshes, and of connections that must be approved again. */
  readonly tokens: readonly Readonly<Record<string, unknown>>[]
  /** Fingerprints of the released tokens, by the id of their request. */
  readonly released: ReadonlyMap<string, readonly string[]>
  fingerprint(token: string): string
}

const LAPSED_SECONDS = 60

export async function install(
  kind: DatabaseKind,
  environment: Readonly<Record<string, string>> = {},
  /** A PostgreSQL of the test; without it a database is created, and dropped at the end. */
  postgresUrl?: string,
): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-faults-'))
  const path = join(folder, 'gatepass.db')
  const server = kind === 'PostgreSQL' && postgresUrl === undefined ? await freshDatabase() : undefined
  const database = postgresUrl ?? server?.url ?? `file:${path}`
  const nodes: Node[] = []
  const balancer = await startBalancer(nodes)
  const settings = {
    GATEPASS_PUBLIC_URL: balancer.url,
    GATEPASS_DATABASE_URL: database,
    GATEPASS_MASTER_KEY: MASTER_KEY,
    GATEPASS_API_KEY: API_KEY,
    GATEPASS_USER_VERIFIER: 'open',
    GATEPASS_METRICS: 'open',
    GATEPASS_ALLOWED_HOSTS: '127.0.0.1',
    ...environment,
  }

  const installation: Installation = {
    kind,
    url: balancer.url,
    database,
    nodes,
    async start(options = {}) {
      const node = await startNode(database, { ...settings, ...options.environment }, options.nodeArgs)
      node.ended.then(() => {
        const known = nodes.indexOf(node)
        if (known >= 0) nodes.splice(known, 1)
      })
      nodes.push(node)
      return node
    },
    withdraw(node) {
      const known = nodes.indexOf(node)
      if (known >= 0) nodes.splice(known, 1)
      return () => {
        if (node.isRunning && !nodes.includes(node)) nodes.unshift(node)
      }
    },
    async call(method, path, body) {
      const response = await fetch(`${balancer.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${API_KEY}`,
          'content-type': 'application/json',
          connection: 'close',
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      return {
        status: response.status,
        requestId: response.headers.get('x-request-id') ?? '',
        retryAfter: response.headers.get('retry-after'),
        body: await response.json(),
      }
    },
    async sql(text) {
      if (kind === 'PostgreSQL') return (await runSql(database, text)).rows
      const client = new Database(path)
      try {
        client.pragma('busy_timeout = 5000')
        if (/^\s*select/i.test(text)) return client.prepare<[], Record<string, unknown>>(text).all()
        client.exec(text)
        return []
      } finally {
        client.close()
      }
    },
    async lapse() {
      await installation.sql(`update authorizations set deadline = deadline - ${LAPSED_SECONDS}`)
      await installation.sql(`update connections set lease_until = lease_until - ${LAPSED_SECONDS}`)
    },
    async lapseLost() {
      const held = await installation.sql('select lease_owner from connections where lease_until is not null')
      await installation.untilNoRefresh()
      await installation.sql(`update authorizations set deadline = deadline - ${LAPSED_SECONDS}`)
      // what is under way now has begun since, with a lease of another owner
      for (const { lease_owner: owner } of held)
        await installation.sql(
          `update connections set lease_until = lease_until - ${LAPSED_SECONDS} where lease_owner = '${owner}'`,
        )
    },
    async untilNoRefresh() {
      for (const { get } of [...nodes])
        await until(async () => /^gatepass_refreshes_running 0$/m.test((await get('/metrics')).body))
    },
    async trail() {
      const broker = await openBroker(readConfig(settings, 'serve'), { log: SILENT })
      try {
        const { id } = (await broker.store.projects.findByName(DEFAULT_PROJECT)) ?? { id: '' }
        const released = new Map<string, string[]>()
        for await (const entry of readAudit(broker, id, { action: 'token.released' }, 'oldest first')) {
          const { request_id: request, fingerprint } = entry as { request_id?: string; fingerprint?: string }
          released.set(request ?? '', [...(released.get(request ?? '') ?? []), fingerprint ?? ''])
        }
        const outcomesLost = new Set<string>()
        const marked = readAudit(broker, id, { action: 'connection.needs_authorization' }, 'oldest first')
        for await (const { reason, connection_id: connection } of marked)
          if (reason === 'refresh_outcome_lost') outcomesLost.add(String(connection))
        const tokens: Record<string, unknown>[] = []
        for (const action of ['token.released', 'connection.refreshed', 'connection.needs_authorization'])
          for await (const entry of readAudit(broker, id, { action }, 'oldest first'))
            tokens.push({ ...entry })
        const { entries, faults } = await verifyAudit(broker, id)
        return {
          entries,
          faults,
          outcomesLost,
          tokens,
          released,
          fingerprint: (token) => broker.audit.fingerprint(token),
        }
      } finally {
        await broker.close()
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...nodes].map((node) => node.kill()))
      await balancer.close()
      await server?.[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
  return installation
}

const nothing = () => {}
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing }

async function startNode(
  database: string,
  environment: Readonly<Record<string, string>>,
  nodeArgs: readonly string[] = ['--import', KILL_AT],
): Promise<Node> {
  const served = await serveProcess({ database, environment, nodeArgs, ipc: true })
  const { child, ended } = served
  const ask = async (question: unknown) => {
    const answered = once(child, 'message')
    child.send(question as Serializable) // the tests send JSON
    return (await answered)[0]
  }
  return Object.assign(served, {
    ask,
    async armed(point: KillPoint) {
      await ask(point)
      return { killed: ended.then(() => {}) }
    },
  })
}

/** A TCP load balancer: gives connections to the nodes in turn, and skips a node that cannot be reached. */
async function startBalancer(nodes: readonly Node[]) {
  let turn = 0
  const open = new Set<{ destroy(): void }>()
  const server = createServer((client) => {
    client.on('error', () => {})
    open.add(client)
    client.once('close', () => open.delete(client))
    const tryNext = (left: number) => {
      const node = nodes[turn++ % Math.max(1, nodes.length)]
      if (node === undefined || left === 0) return client.destroy()
      const backend = tcpConnect(Number(new URL(node.url).port), '127.0.0.1')
      let isConnected = false
      backend.once('connect', () => {
        isConnected = true
        client.pipe(backend)
        backend.pipe(client)
      })
      backend.once('error', () => (isConnected ? client.destroy() : tryNext(left - 1)))
      backend.once('close', () => isConnected && client.destroy())
      client.once('close', () => backend.destroy())
      return undefined
    }
    tryNext(nodes.length)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      for (const client of open) client.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Whether SIGSTOP has stopped the process: its state is `T` (proc_pid_stat). */
export async function isStopped({ pid }: Node): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[0] === 'T'
}

/** Prints what a test counted, in one line. */
export function report(what: string, counts: Readonly<Record<string, number | string>>): void {
  const parts = Object.entries(counts).map(([name, count]) => `${count} ${name}`)
  process.stdout.write(`${what}: ${parts.join(', ')}\n`)
}
