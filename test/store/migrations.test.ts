import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openPostgresStore } from '../../src/store/dialects/postgres/open.ts'
import { pendingMigrations } from '../../src/store/dialects/sqlite/migrations.ts'
import { openSqliteStore } from '../../src/store/dialects/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { freshDatabase, runSql } from '../postgres.ts'
import { execution, sealed, tool, worker } from './fixtures.ts'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatepass-migrations-'))
  path = join(folder, 'gatepass.db')
})
afterEach(() => rm(folder, { recursive: true }))

/** The migrations that come before the one with this name. */
function migrationsBefore(name: string, backend: 'sqlite' | 'postgres') {
  const migrationsFolder = fileURLToPath(new URL(`../../drizzle/${backend}`, import.meta.url))
  const { entries } = JSON.parse(readFileSync(join(migrationsFolder, 'meta/_journal.json'), 'utf8'))
  const index = entries.findIndex(({ tag }: { tag: string }) => tag.endsWith(name))
  expect(index).toBeGreaterThan(0)
  return readMigrationFiles({ migrationsFolder }).slice(0, index)
}

/** Migrates an empty PostgreSQL database up to the migration with this name, which is not run. */
async function migrateBefore(name: string, url: string): Promise<void> {
  await runSql(url, 'create table schema_migrations (hash text primary key, created_at bigint not null)')
  for (const { hash, sql, folderMillis } of migrationsBefore(name, 'postgres')) {
    await runSql(url, sql.join('\n'))
    await runSql(url, `insert into schema_migrations values ('${hash}', ${folderMillis})`)
  }
}

test('five processes may open one empty database at once', async () => {
  const paths = Array.from({ length: 8 }, (_, i) => `${path}.${i}`)
  const openers = [1, 2, 3, 4, 5].map(() => startOpener(paths))
  await Promise.all(openers.map(({ ready }) => ready))
  for (const { go } of openers) go()
  const ended = await Promise.all(openers.map((one) => one.ended))
  expect(ended).toEqual(Array(5).fill({ code: 0, stderr: '' }))
  for (const one of paths) expect(pendingMigrations(one)).toBe(0)
})

test('a project is kept when the database is opened again', async () => {
  const before = openSqliteStore(path)
  const project = await before.projects.ensure('kept', 5)
  await before.close()
  const after = openSqliteStore(path)
  expect(await after.projects.find(project.id)).toEqual(project)
  await after.close()
})

describe('a database from before the migration of tools of every kind', () => {
  const MIGRATION = 'tools_of_every_kind'

  /** A project of that time, with a tool, and a worker with its secret. */
  const ROWS = [
    "insert into projects values ('proj_1', 'default', 1)",
    `insert into tools (uid, project_id, namespace, name, version, title, description, input_schema, requirements, source, digest, created_at, updated_at)
      values ('tool_1', 'proj_1', 'demo', 'Whoami', '', 'Who am I', 'd', '{"type":"object"}', '{"authorization":[],"secrets":[],"metadata":[]}', '{"kind":"metadata","document":{}}', 'digest', 1, 2)`,
    `insert into workers (uid, project_id, id, type, enabled, uri, secret, timeout_seconds, retry, created_at, updated_at)
      values ('work_1', 'proj_1', 'w', 'http', true, 'https://w.example.test', 'sealed', 5, 2, 1, 2)`,
  ]

  async function expectKept(store: Store): Promise<void> {
    const common = { projectId: 'proj_1', createdAt: 1, updatedAt: 2 }
    const { version: _, ...versionless } = tool({ ...common, uid: 'tool_1', description: 'd' })
    expect(await store.tools.list('proj_1')).toEqual([versionless])
    expect(await store.workers.all()).toEqual([
      worker({
        ...common,
        uid: 'work_1',
        id: 'w',
        uri: 'https://w.example.test',
        secret: sealed('sealed'),
        retry: 2,
      }),
    ])
    await store.executions.add([execution({ projectId: 'proj_1' })])
    await store.close()
  }

  test('keeps its rows on SQLite', async () => {
    const before = new Database(path)
    before.exec('create table schema_migrations (hash text primary key, created_at integer not null)')
    for (const { hash, sql, folderMillis } of migrationsBefore(MIGRATION, 'sqlite')) {
      for (const statement of sql) before.exec(statement)
      before.prepare('insert into schema_migrations values (?, ?)').run(hash, folderMillis)
    }
    for (const row of ROWS) before.exec(row)
    before.close()
    expect(pendingMigrations(path)).toBeGreaterThan(0)
    await expectKept(openSqliteStore(path))
  })

  test('keeps its rows on PostgreSQL', async () => {
    await using database = await freshDatabase()
    await migrateBefore(MIGRATION, database.url)
    for (const row of ROWS) await runSql(database.url, row)
    await expectKept(await openPostgresStore(database.url))
  })
})

describe('indexes of existing tables, on PostgreSQL', () => {
  const INDEXES = ['chains_of_project', 'connections_refresh_at', 'executions_status'] // the second is of a new column

  const validOf = async (client: pg.Client) =>
    (
      await client.query(
        'select indexrelid::regclass::text as name, indisvalid as valid from pg_index where indexrelid::regclass::text = any($1) order by 1',
        [INDEXES],
      )
    ).rows

  test('are built while writes go on, and built again after a build that was interrupted', async () => {
    await using database = await freshDatabase()
    await migrateBefore('list_indexes', database.url)
    await runSql(database.url, "insert into projects values ('proj_1', 'default', 1)")
    const [writer, other] = [1, 2].map(
      () => new pg.Client({ connectionString: database.url, statement_timeout: 30_000 }),
    ) as [pg.Client, pg.Client]
    await Promise.all([writer.connect(), other.connect()])
    // an index that an interrupted build has left invalid
    await writer.query('create index executions_status on executions (project_id, status, id)')
    await writer.query(
      "update pg_index set indisvalid = false where indexrelid = 'executions_status'::regclass",
    )
    // an open transaction that has written: every build waits for it
    await writer.query('begin')
    await writer.query("delete from chains where id = 'none'")
    const opening = openPostgresStore(database.url)
    await vi.waitFor(async () => {
      const { rows } = await other.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ilike 'create index%chains%'",
      )
      expect(rows).toHaveLength(1)
    }, 300_000)

    await other.query("delete from chains where id = 'another'") // waits behind a lock if writes are locked out

    await writer.query('commit')
    const store = await opening
    expect(await validOf(other)).toEqual(INDEXES.map((name) => ({ name, valid: true })))
    await Promise.all([store.close(), writer.end(), other.end()])
  })

  test('are of new columns that wait for no longer than a second before all writes', async () => {
    await using database = await freshDatabase()
    await migrateBefore('list_indexes', database.url)
    await runSql(database.url, "insert into projects values ('proj_1', 'default', 1)")
    const [writer, other] = [1, 2].map(() => new pg.Client(database.url)) as [pg.Client, pg.Client]
    await Promise.all([writer.connect(), other.connect()])
    await writer.query('begin')
    await writer.query("delete from executions where id = 'none'")
    const opening = openPostgresStore(database.url)
    const isAltering = () =>
      other.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ilike 'alter table%executions%'",
      )
    await vi.waitFor(async () => expect((await isAltering()).rows).toHaveLength(1), 300_000)
    await other.query("delete from executions where id = 'another'") // the first transaction is still open
    await writer.query('commit')
    const store = await opening
    await Promise.all([store.close(), writer.end(), other.end()])
  })

  test('are valid after several nodes have started together', async () => {
    await using database = await freshDatabase()
    await migrateBefore('list_indexes', database.url)
    await runSql(database.url, "insert into projects values ('proj_1', 'default', 1)")
    const stores = await Promise.all([1, 2, 3].map(() => openPostgresStore(database.url)))
    const client = new pg.Client(database.url)
    await client.connect()
    expect(await validOf(client)).toEqual(INDEXES.map((name) => ({ name, valid: true })))
    await client.end()
    for (const store of stores) await store.close()
  })
})

test('a database of a newer release is refused, and its tables are not changed', async () => {
  await openSqliteStore(path).close()
  const newer = new Database(path)
  newer.prepare("insert into schema_migrations values ('of tomorrow', 1)").run()
  const shape = () => newer.prepare('select sql from sqlite_master order by name').pluck().all()
  const before = shape()
  expect(() => openSqliteStore(path)).toThrow(
    /newer release of Gatepass.*(Start that release|restore a backup)/,
  )
  expect(shape()).toEqual(before)
  newer.close()
})

test('counting the pending migrations of a missing file does not create it', () => {
  expect(pendingMigrations(path)).toBeGreaterThan(0)
  expect(existsSync(path)).toBe(false)
})

/** Starts a process that, after `go`, opens each of the databases and writes to it. */
function startOpener(paths: readonly string[]) {
  const store = fileURLToPath(new URL('../../src/store/dialects/sqlite/open.ts', import.meta.url))
  const script = `
    import { openSqliteStore } from ${JSON.stringify(store)}
    process.stdout.write('ready')
    await new Promise((resolve) => process.stdin.once('data', resolve))
    for (const path of process.argv.slice(1)) {
      const store = openSqliteStore(path)
      await store.projects.ensure('shared', 1)
      await store.close()
    }
    process.stdin.destroy()`
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', script, ...paths])
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stderr }))
  })
  const ready = Promise.race([once(child.stdout, 'data'), ended])
  return { ready, ended, go: () => child.stdin.end('go') }
}
