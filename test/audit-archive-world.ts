import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect } from 'vitest'
import type { AnyJson } from './any-json.ts'
import { type Outcome, runHere } from './cli/gatepass.ts'
import { type Gatepass, startGatepass } from './gatepass.ts'
import { freshDatabase, runSql } from './postgres.ts'
import { MASTER_KEY } from './served.ts'

export const DATABASES = ['sqlite', 'postgres'] as const
export type DatabaseKind = (typeof DATABASES)[number]

/** The time at which the old entries were committed, and a later one at which the newer were. */
export const OLD = Date.parse('2026-01-01T00:00:00Z') / 1000
export const NEWER = Date.parse('2026-03-01T00:00:00Z') / 1000

/** A server, the command line beside it on the same database, and a folder for archives. */
export interface ArchiveWorld extends AsyncDisposable {
  readonly gatepass: Gatepass
  readonly projectId: string
  readonly folder: string
  readonly database: string
  /** Appends entries to the trail of a project, in blocks of three. */
  fill(at: number, entries: number, projectId?: string): Promise<void>
  run(...args: readonly string[]): Promise<Outcome>
  /** The JSON of a command that must have exited with 0. */
  json(...args: readonly string[]): Promise<AnyJson>
  /** Archives what is older than `NEWER`. */
  archive(...args: readonly string[]): Promise<AnyJson>
  /** Why `gatepass audit verify` exits with 1, or nothing. */
  faults(...args: readonly string[]): Promise<readonly string[]>
  /** The lines of an export over HTTP. */
  exported(query?: string): Promise<readonly string[]>
  /** The paths of the archives, in order. */
  files(): Promise<readonly string[]>
  sql(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
}

export interface WorldOptions {
  readonly environment?: Readonly<Record<string, string>>
  readonly now?: () => number
}

export async function startArchiveWorld(
  kind: DatabaseKind,
  options: WorldOptions = {},
): Promise<ArchiveWorld> {
  const fresh = kind === 'postgres' ? await freshDatabase() : undefined
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-archives-'))
  const environment = {
    ...(fresh && { GATEPASS_DATABASE_URL: fresh.url }),
    ...(options.environment?.GATEPASS_AUDIT_RETENTION && { GATEPASS_AUDIT_ARCHIVE: folder }),
    ...options.environment,
  }
  const gatepass = await startGatepass({ ...(options.now && { now: options.now }), environment })
  const { broker, databasePath } = gatepass
  const database = fresh?.url ?? `file:${databasePath}`
  const { id } = await broker.store.projects.ensure('default', 0)
  const run: ArchiveWorld['run'] = (...args) =>
    runHere({ GATEPASS_DATABASE_URL: database, GATEPASS_MASTER_KEY: MASTER_KEY }, ...args)

  const world: ArchiveWorld = {
    gatepass,
    projectId: id,
    folder,
    database,
    async fill(at, entries, projectId = id) {
      const user = { userId: 'ada "\u2028"', connectionId: `conn_${at}` } as const
      for (let first = 0; first < entries; first += 3) {
        const one = () => broker.audit.of(projectId, { action: 'token.released', ...user }).lines
        const lines = Array.from({ length: Math.min(3, entries - first) }, one).flat()
        await broker.store.audit.append({ projectId, at, lines, link: broker.audit.link })
      }
    },
    run,
    async json(...args) {
      const { code, stdout, stderr } = await run(...args, '--json')
      expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
      return JSON.parse(stdout)
    },
    async archive(...args) {
      const to = ['--before', '2026-02-01', '--to', folder] as const
      return (await world.json('audit', 'archive', ...to, ...args)).items[0].archived
    },
    async faults(...args) {
      const { code, stdout } = await run('audit', 'verify', ...args, '--json')
      const faults = JSON.parse(stdout).items.flatMap((one: AnyJson) => one.faults)
      expect(code).toBe(faults.length > 0 ? 1 : 0)
      return faults
    },
    async exported(query = '') {
      const { status, body } = await gatepass.call('GET', `/v1/admin/audit/export${query}`)
      expect(status).toBe(200)
      return String(body).split('\n').filter(Boolean)
    },
    async files() {
      const names = (await readdir(folder)).filter((name) => name.endsWith('.audit.jsonl'))
      return names.sort().map((name) => join(folder, name))
    },
    async sql(text) {
      if (fresh !== undefined) return (await runSql(fresh.url, text)).rows
      using client = closing(new Database(databasePath))
      if (/^\s*select/i.test(text)) return client.prepare<[], Record<string, unknown>>(text).all()
      client.exec(text)
      return []
    },
    async [Symbol.asyncDispose]() {
      await gatepass.close()
      await fresh?.[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
  return world
}

/** The entries of an archive, as an export has them. */
export async function entriesOf(path: string): Promise<readonly string[]> {
  return (await readFile(path, 'utf8')).split('\n').filter((line) => line.startsWith('{"seq":'))
}

function closing(client: Database.Database): Database.Database & Disposable {
  return Object.assign(client, { [Symbol.dispose]: () => void client.close() })
}
