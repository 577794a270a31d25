import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Broker } from '../src/broker.ts'
import type { Config } from '../src/config.ts'
import { issueApiKey, type Role } from '../src/domain/api-key.ts'
import { type Clock, type SteadyClock, systemClock } from '../src/domain/clock.ts'
import type { Log } from '../src/domain/log.ts'
import type { Outgoing } from '../src/egress/outgoing.ts'
import type { LookUpTxt } from '../src/egress/txt-records.ts'
import { readConfig } from '../src/read-config.ts'
import { startServer } from '../src/server.ts'
import type { AnyJson } from './any-json.ts'
import { migratedFile } from './migrated-file.ts'
import { freePort } from './ports.ts'
import { API_KEY, MASTER_KEY } from './served.ts'

/** A real Gatepass: an HTTP server with its own port and its own SQLite file. */
export interface Gatepass extends AsyncDisposable {
  readonly url: string
  readonly config: Config
  readonly broker: Broker
  /** An administrator's key of the default project. */
  readonly apiKey: string
  readonly databasePath: string
  /** Every log line, as JSON. */
  readonly logLines: readonly string[]
  /** With `printLink`: makes a link that logs in to the console. */
  readonly makeLink?: () => string
  /** Calls the API, by default with `apiKey`, and reads the JSON. */
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>
  /** Makes a further key, of another role or project. */
  makeKey(role: Role, project?: string): Promise<string>
  close(): Promise<void>
}

export interface CallOptions {
  /** Default: `apiKey`; `null`: no key. */
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: AnyJson
}

export interface GatepassOptions {
  /** Settings beside those that every test needs. */
  readonly environment?: Readonly<Record<string, string>>
  readonly now?: Clock
  /** The clock of leases; default: `now`. */
  readonly steadyClock?: SteadyClock
  readonly mode?: 'development' | 'serve'
  /** As `gatepass dev` has it. */
  readonly printLink?: (url: string) => void
  /** In place of the guarded client. */
  readonly outgoing?: Outgoing
  /** In place of DNS. */
  readonly lookUpTxt?: LookUpTxt
  /** The file and the port of an earlier one, as after a crash. */
  readonly databasePath?: string
  readonly port?: number
  /** `false`: without the hot fetch. */
  readonly hotFetch?: false
}

/** Starts a Gatepass that may call 127.0.0.1 over plain http; `close()` removes its files. */
export async function startGatepass(options: GatepassOptions = {}): Promise<Gatepass> {
  const folder = options.databasePath === undefined ? await mkdtemp(join(tmpdir(), 'gatepass-')) : undefined
  const databasePath = options.databasePath ?? join(folder ?? '', 'gatepass.db')
  if (options.databasePath === undefined) await writeFile(databasePath, await migratedFile())
  const logLines: string[] = []
  const { now = systemClock } = options
  const port = options.port ?? (await freePort())
  const removeFolder = async () => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }
  const start = async () => {
    const config = readConfig(
      {
        GATEPASS_PORT: String(port),
        GATEPASS_PUBLIC_URL: `http://127.0.0.1:${port}`,
        GATEPASS_DATABASE_URL: `file:${databasePath}`,
        GATEPASS_MASTER_KEY: MASTER_KEY,
        GATEPASS_API_KEY: API_KEY,
        GATEPASS_USER_VERIFIER: 'open',
        GATEPASS_ALLOWED_HOSTS: '127.0.0.1,localhost',
        ...options.environment,
      },
      options.mode ?? 'serve',
    )
    const server = await startServer(config, {
      log: recordingLog(logLines),
      now,
      ...(options.steadyClock && { steadyClock: options.steadyClock }),
      ...(options.outgoing && { outgoing: options.outgoing }),
      ...(options.lookUpTxt && { lookUpTxt: options.lookUpTxt }),
      ...(options.printLink && { printLink: options.printLink }),
      ...(options.hotFetch === false && { hotFetch: false }),
    })
    return { config, server }
  }
  const { config, server } = await start().catch(async (error: unknown) => {
    await removeFolder()
    throw error
  })
  const url = `http://127.0.0.1:${config.port}`
  const { broker } = server

  let closing: Promise<void> | undefined
  const gatepass: Gatepass = {
    url,
    config,
    broker,
    apiKey: API_KEY,
    databasePath,
    logLines,
    ...(server.makeLink && { makeLink: server.makeLink }),
    async call(method, path, body, { key = API_KEY, headers = {} } = {}) {
      const response = await fetch(new URL(path, url), {
        method,
        redirect: 'manual',
        headers: {
          ...(key !== null && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      const isJson = /^application\/(\w+\+)?json\b/.test(response.headers.get('content-type') ?? '')
      return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
    },
    async makeKey(role, project = 'default') {
      const { id: projectId } = await broker.store.projects.ensure(project, now())
      const { key, record } = issueApiKey({ projectId, name: 'test', role, createdAt: now() })
      await broker.store.apiKeys.add(record)
      return key
    },
    close() {
      closing ??= server.close().then(removeFolder)
      return closing
    },
    async [Symbol.asyncDispose]() {
      await gatepass.close()
    },
  }
  return gatepass
}

/** A clock that tests move. */
export function testClock(start = 1_800_000_000): Clock & { advance(seconds: number): void } {
  let now = start
  return Object.assign(() => now, {
    advance(seconds: number) {
      now += seconds
    },
  })
}

function recordingLog(lines: string[]): Log {
  const write = (level: string) => (about: object, message: string) =>
    void lines.push(JSON.stringify({ level, message, ...about }))
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
