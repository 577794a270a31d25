import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { COPIED_TABLES, copyRows, type RowTarget } from '../../src/copying/copy-rows.ts'
import { openSource, openTarget } from '../../src/copying/open.ts'
import { admitKeys } from '../../src/services/sealing-keys.ts'
import { connectionToolKey } from '../../src/store/connection-tools.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createSealer } from '../../src/store/seal.ts'
import { migratedFile } from '../migrated-file.ts'
import { freshDatabase, runSql } from '../postgres.ts'
import { serveProcess } from '../served.ts'
import { envelopesOf, startSealedInstallation } from '../store/sealed-installation.ts'
import { until } from '../until.ts'
import { type Installation, install } from './gatepass.ts'

const KEY = Buffer.alloc(32, 7)

let gatepass: Installation
let folder: string
beforeEach(async () => {
  gatepass = await install()
  folder = await mkdtemp(join(tmpdir(), 'gatepass-move-'))
})
afterEach(async () => {
  await gatepass[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const file = (name: string) => join(folder, name)

const environment = { env: { GATEPASS_MASTER_KEY: KEY.toString('base64') } }

const run = (...args: readonly string[]) => gatepass.runHereWith(environment, ...args)

const move = (from: string, to: string, ...more: readonly string[]) =>
  run('migrate', '--from', from, '--to', to, '--json', ...more)

const moveByProcess = (from: string, to: string) =>
  gatepass.runWith(environment, 'migrate', '--from', from, '--to', to, '--json')

let made: Promise<Buffer> | undefined

/** An installation with something in every sealed column, its servers stopped. Made once for all tests, and copied. */
async function installationAt(path: string): Promise<void> {
  made ??= makeInstallation(file('made.db'))
  await writeFile(path, await made)
}

async function makeInstallation(path: string): Promise<Buffer> {
  await writeFile(path, await migratedFile())
  const installation = await startSealedInstallation({ gatepass: { databasePath: path } })
  const { call, gatepass } = installation.scene
  await call('PATCH', '/v1/admin/projects/default/branding', { app_name: 'Acme' })
  await call('POST', '/v1/users/ada/portal', {})
  await call('POST', '/v1/webhooks', { url: `${gatepass.url}/health` })
  const origin = 'https://app.example'
  const need = { user_id: 'eve', provider_id: 'demo', allowed_origin: origin }
  const { session_token: key } = (await call('POST', '/v1/connect_sessions', need)).body
  // its end is delivered to the webhook
  await call('POST', '/v1/connect_sessions/current/cancel', undefined, { key, headers: { origin } })
  const [connection] = (await call('GET', '/v1/connections?user_id=ada')).body.items
  gatepass.broker.uses.used('connectionTools', connectionToolKey(connection.id, 'Demo.WhoAmI'), 1)
  await installation[Symbol.asyncDispose]()
  return readFile(path)
}

/** Adds a trigger before insertions to the file. */
function addTrigger(path: string, rest: string): void {
  const client = new Database(path)
  client.exec(`create trigger failing before insert ${rest}`)
  client.close()
}

/** Facts that a database has of itself: the move, and the clock of the machine whose processes share the file. */
const OF_ONE_DATABASE: ReadonlySet<unknown> = new Set(['moved_at', 'lease_clock'])

function rowsOf(path: string) {
  const client = new Database(path, { readonly: true })
  const rows = COPIED_TABLES.map(({ name, key }) =>
    client
      .prepare<[], Record<string, unknown>>(`select * from ${name} order by ${key.join()}`)
      .all()
      .filter((row) => name !== 'facts' || !OF_ONE_DATABASE.has(row.name)),
  )
  client.close()
  return rows
}

describe('moving an installation', () => {
  test('from a file to PostgreSQL and back again keeps every row as it was', async () => {
    await installationAt(file('a.db'))
    const before = rowsOf(file('a.db'))
    const empty = COPIED_TABLES.filter((_, i) => before[i]?.length === 0).map(({ name }) => name)
    expect(empty).toEqual([
      'audit_anchors',
      'mcp_consents',
      'pinned_tools',
      'quota_counts',
      'toolsets',
      'shared_connections',
    ])
    await using database = await freshDatabase()

    const there = await moveByProcess(`file:${file('a.db')}`, database.url)
    expect(there, there.stderr).toMatchObject({ code: 0, stderr: '' })
    const told = JSON.parse(there.stdout)
    expect(told.tables.map(({ table, rows }: { table: string; rows: number }) => [table, rows])).toEqual(
      COPIED_TABLES.map(({ name }, i) => [
        name,
        before[i]?.filter((row) => name !== 'facts' || row.name !== 'probe').length,
      ]),
    )
    const store = await openStore({ kind: 'postgres', url: database.url })
    const sealer = createSealer([KEY])
    const envelopes = await envelopesOf({ store })
    expect(envelopes.length).toBeGreaterThan(10)
    for (const { sealed, context } of envelopes) sealer.open(sealed, context)
    await store.close()

    const back = await move(database.url, `file:${file('b.db')}`)
    expect(back, back.stderr).toMatchObject({ code: 0, stderr: '' })
    const after = rowsOf(file('b.db'))
    for (const [i, { name }] of COPIED_TABLES.entries()) {
      const [rows, copies] = [before[i] ?? [], after[i] ?? []]
      if (name === 'audit_blocks')
        expect(copies).toEqual(expect.arrayContaining(rows)) // and that it was moved
      else if (name === 'facts') expect(copies).toEqual(rows.filter((row) => row.name !== 'probe'))
      else expect(copies, name).toEqual(rows)
    }
    const verified = await gatepass.runHereWith(
      {
        env: {
          GATEPASS_MASTER_KEY: KEY.toString('base64'),
          GATEPASS_DATABASE_URL: `file:${file('b.db')}`,
        },
      },
      ...['audit', 'verify', '--json'],
    )
    expect(verified.code, verified.stdout + verified.stderr).toBe(0)
  })

  test('leaves the old one closed, until it is copied once more on purpose', async () => {
    await installationAt(file('a.db'))
    const moved = await run('migrate', '--from', `file:${file('a.db')}`, '--to', `file:${file('b.db')}`)
    expect(moved).toMatchObject({ code: 0, stdout: expect.stringContaining('compared row by row') })
    await expect(
      serveProcess({ database: `file:${file('a.db')}`, masterKeys: [KEY.toString('base64')] }),
    ).rejects.toThrow(/was moved to another database/)
    await using node = await serveProcess({
      database: `file:${file('b.db')}`,
      masterKeys: [KEY.toString('base64')],
    })
    expect((await node.call('GET', '/v1/connections?user_id=ada')).body.items).toHaveLength(1)

    const again = await move(`file:${file('a.db')}`, `file:${file('c.db')}`)
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('--force') })
    expect(await move(`file:${file('a.db')}`, `file:${file('c.db')}`, '--force')).toMatchObject({ code: 0 })
  })

  test.each([
    ['sqlite', ''],
    ['postgres', ''],
    ['postgres', '?application_name=billing'],
  ] as const)('does not begin while a server is on it: %s %s', async (backend, query) => {
    await using database = backend === 'postgres' ? await freshDatabase() : undefined
    const from = database === undefined ? `file:${file('a.db')}` : `${database.url}${query}`
    await using node = await serveProcess({ database: from, masterKeys: [KEY.toString('base64')] })
    const refused = await moveByProcess(from, `file:${file('b.db')}`)
    expect(refused).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/Stop all servers[^\n]+\n$/),
    })
    expect((await node.call('GET', '/v1/connections')).status).toBe(200)
    expect((await readdir(folder)).filter((name) => name.startsWith('b.db'))).toEqual([])
  })

  test('a server that starts while PostgreSQL is copied waits, and does not serve the old database', async () => {
    await using database = await freshDatabase()
    const place = { kind: 'postgres', url: database.url } as const
    await (await openStore(place)).close()
    await using source = await openSource(place)
    const admit = (facts: ReadonlyMap<string, string>) => admitKeys(facts, createSealer([KEY]))
    const refused = expect(openStore(place, { admit })).rejects.toThrow(/was moved to another database/)
    await until(async () => {
      const { rowCount } = await runSql(
        database.url,
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
      return rowCount === 1
    })
    await source.finish({ name: 'moved_at', value: '1000' })
    await refused
  })

  test('ends when the target is the source, under another spelling', async () => {
    await using database = await freshDatabase()
    await (await openStore({ kind: 'postgres', url: database.url })).close()
    const again = new URL(database.url)
    again.pathname = again.pathname.replace('_', '%5F')
    const refused = await move(database.url, again.href)
    expect(refused).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('be the target too') })
  })

  test('takes only an empty target', async () => {
    await installationAt(file('a.db'))
    await installationAt(file('b.db'))
    const other = new Database(file('b.db'))
    other.exec('delete from secrets')
    other.close()
    const before = rowsOf(file('b.db'))
    const refused = await move(`file:${file('a.db')}`, `file:${file('b.db')}`)
    expect(refused).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('has something in it') })
    expect(rowsOf(file('b.db'))).toEqual(before)

    await using database = await freshDatabase()
    const store = await openStore({ kind: 'postgres', url: database.url })
    await store.facts.put('something', 'is here')
    await store.close()
    const pg = await move(`file:${file('a.db')}`, database.url)
    expect(pg).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('has something in it') })
    expect(pg.stderr).not.toContain(new URL(database.url).password)
  })

  test('says in one line that the target cannot be made', async () => {
    await installationAt(file('a.db'))
    const refused = await move(`file:${file('a.db')}`, `file:${file('no-folder/b.db')}`)
    const stderr = expect.stringContaining('b.db cannot be made (ENOENT')
    expect(refused).toEqual({ code: 1, stdout: '', stderr })
    expect(refused.stderr).not.toMatch(/\n +at /)
  })

  test('says in one line why it failed, and whether the source may still be used', async () => {
    await installationAt(file('a.db'))
    await (await openStore({ kind: 'sqlite', path: file('b.db') })).close()
    addTrigger(file('b.db'), "on connections begin select raise(abort, 'database or disk is full'); end")
    expect(await move(`file:${file('a.db')}`, `file:${file('b.db')}`)).toEqual({
      code: 1,
      stdout: '',
      stderr: `Moving to ${file('b.db')} failed (database or disk is full). ${file('a.db')} is unchanged.\n`,
    })

    addTrigger(
      file('a.db'),
      "on facts when new.name = 'moved_at' begin select raise(abort, 'disk I/O error'); end",
    )
    expect(await move(`file:${file('a.db')}`, `file:${file('c.db')}`)).toEqual({
      code: 1,
      stdout: '',
      stderr: `The copy in ${file('c.db')} is complete, but ${file('a.db')} could not be marked as moved (disk I/O error): do not start servers on the old database.\n`,
    })
    expect(rowsOf(file('c.db')).flat().length).toBeGreaterThan(10)
  })

  test('takes a source that has the statistics of ANALYZE', async () => {
    await installationAt(file('a.db'))
    const client = new Database(file('a.db'))
    client.exec('analyze')
    client.close()
    const moved = await move(`file:${file('a.db')}`, `file:${file('b.db')}`)
    expect(moved, moved.stderr).toMatchObject({ code: 0, stderr: '' })
  })

  test('takes only a source of this release', async () => {
    await installationAt(file('a.db'))
    const client = new Database(file('a.db'))
    client.exec('alter table tools add column of_tomorrow text')
    client.close()
    const refused = await move(`file:${file('a.db')}`, `file:${file('b.db')}`)
    expect(refused).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('of this release') })
  })

  test.each([
    [['--from', 'file:a.db'], 2, 'both'],
    [['--from', 'mysql://root:s3cret@h/d', '--to', 'file:b.db'], 2, 'postgres:// URL'],
    [['--from', 'file:nowhere.db', '--to', 'file:b.db'], 3, 'no installation'],
    [['--from', 'file:a.db', '--to', 'file:a.db'], 2, 'name another'],
    [['--from', 'postgres://u:s3cret@127.0.0.1:1/d', '--to', 'file:b.db'], 6, '127.0.0.1'],
  ])('refuses %j in one line with exit code %i, and tells no password', async (args, code, line) => {
    const refused = await run('migrate', ...args.map((arg) => arg.replace(/^file:/, `file:${folder}/`)))
    expect(refused).toMatchObject({ code, stdout: '' })
    expect(refused.stderr).toContain(line)
    expect(refused.stderr).not.toContain('s3cret')
    expect(refused.stderr.trimEnd()).not.toMatch(/\n +at /)
  })

  test.each<[string, (target: RowTarget) => RowTarget]>([
    [
      'a row that arrives altered',
      (target) => ({
        ...target,
        [Symbol.asyncDispose]: () => target[Symbol.asyncDispose](),
        insert: (table, rows) =>
          target.insert(
            table,
            table.name !== 'connections'
              ? rows
              : rows.map((row, i) =>
                  i === 1 ? row.map((value) => (value === 'active' ? 'activE' : value)) : row,
                ),
          ),
      }),
    ],
    [
      'a row that does not arrive',
      (target) => ({
        ...target,
        [Symbol.asyncDispose]: () => target[Symbol.asyncDispose](),
        insert: (table, rows) => target.insert(table, table.name === 'connections' ? rows.slice(1) : rows),
      }),
    ],
  ])('%s is noticed, and nothing is kept', async (_, broken) => {
    await installationAt(file('a.db'))
    await using database = await freshDatabase()
    for (const place of [
      { kind: 'sqlite', path: file('b.db') },
      { kind: 'postgres', url: database.url },
    ] as const) {
      await using source = await openSource({ kind: 'sqlite', path: file('a.db') })
      const target = await openTarget(place)
      await expect(copyRows(source, broken(target))).rejects.toThrow(
        /copy of connections differs from the source/,
      )
      await target[Symbol.asyncDispose]()
    }
    expect(await readdir(folder)).not.toContain('b.db')
    const { rows } = await runSql(database.url, 'select * from facts')
    expect(rows).toEqual([])
  })
})

test('both schemas have the same tables and columns, but for what is made anew in each', async () => {
  await using database = await freshDatabase()
  await (await openStore({ kind: 'postgres', url: database.url })).close()
  const { rows } = await runSql(
    database.url,
    `select table_name as name, array_agg(column_name::text) as columns from information_schema.columns
      where table_schema = 'public' group by 1`,
  )
  const there = Object.fromEntries(rows.map(({ name, columns }) => [name, columns.sort()]))
  const { audit_heads, changes, commits, processes, servers, schema_migrations, ...others } = there
  const { audit_terms, audit_segments, audit_progress, ...tables } = others
  expect([audit_terms, audit_segments, audit_progress]).not.toContain(undefined)
  expect(changes).toBeDefined()
  expect(commits).toBeDefined()
  expect(processes).toBeDefined()
  expect(servers).toBeDefined()
  expect(audit_heads).toBeDefined()
  expect(schema_migrations).toBeDefined()
  expect(tables).toEqual(
    Object.fromEntries(
      COPIED_TABLES.map(({ name, columns }) => [name, columns.map((one) => one.name).sort()]),
    ),
  )
})
