import { closeSync, copyFileSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { KILL_AT } from '../faults/installation.ts'
import type { KillPoint } from '../faults/kill-at.ts'
import { approve, authorize, oauth2For, startScene } from '../flows/fixtures.ts'
import { startGatepass } from '../gatepass.ts'
import { type FreshDatabase, freshDatabase, runSql } from '../postgres.ts'
import { type Served, serveProcess } from '../served.ts'
import { defined } from '../store/fixtures.ts'
import { until } from '../until.ts'
import { type Installation, install } from './gatepass.ts'

/** Pause of a caller between two requests, which leaves processor time to the backup. */
const PAUSE_MS = 10

const KEY = Buffer.alloc(32, 7).toString('base64')

let gatepass: Installation
let folder: string
beforeEach(async () => {
  gatepass = await install()
  folder = await mkdtemp(join(tmpdir(), 'gatepass-backup-'))
})
afterEach(async () => {
  await gatepass[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const settings = (database: string, more: Record<string, string> = {}) => ({
  env: { GATEPASS_DATABASE_URL: database, GATEPASS_MASTER_KEY: KEY, ...more },
})
const backup = (database: string, to: string, more?: Record<string, string>) =>
  gatepass.runHereWith(settings(database, more), 'backup', '--to', to, '--json')
const backupByProcess = (database: string, to: string) =>
  gatepass.runWith(settings(database), 'backup', '--to', to, '--json')

const needOf = (user_id: string) => ({
  auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } },
  user_id,
})

/** Connects each of these users at the served installation. */
async function connectAll(node: Served, as: Parameters<typeof oauth2For>[0], users: readonly string[]) {
  await node.call('POST', '/v1/admin/auth_providers', { id: 'demo', oauth2: oauth2For(as) })
  for (const user of users) {
    const { browser, callback } = await approve(
      (await node.call('POST', '/v1/auth/authorize', needOf(user))).body.url,
    )
    expect((await browser.follow(callback)).status).toBe(200)
  }
}

describe.each(['sqlite', 'postgres'] as const)('a backup of %s', (backend) => {
  test('is whole and fails no request, though the database is written all the time', async () => {
    await using as = await startFakeAuthorizationServer()
    await using fresh = backend === 'postgres' ? await freshDatabase() : undefined
    const database = fresh?.url ?? `file:${join(folder, 'gatepass.db')}`
    await using node = await serveProcess({ database, masterKeys: [KEY] })
    await connectAll(node, as, ['ada', 'bob'])

    const failed: unknown[] = []
    let [answered, slowest, isOver] = [0, 0, false]
    const load = Array.from({ length: 2 }, async () => {
      while (!isOver) {
        const started = performance.now()
        const answer = await node.call('POST', '/v1/auth/authorize', needOf('ada')) // writes an audit entry
        slowest = Math.max(slowest, performance.now() - started)
        if (answer.status !== 200 || answer.body.status !== 'completed') failed.push(answer)
        answered++
        await sleep(PAUSE_MS)
      }
    })
    const path = join(folder, 'copy.db')
    const before = answered
    const outcome = await backupByProcess(database, path)
    isOver = true
    await Promise.all(load)
    expect(outcome, outcome.stderr).toMatchObject({ code: 0, stderr: '' })
    expect(failed).toEqual([])
    expect(answered - before).toBeGreaterThan(5)
    expect(slowest).toBeLessThan(300_000)

    const told = JSON.parse(outcome.stdout)
    expect(told).toMatchObject({ path, recorded: true, rows: { connections: 2, providers: 1 } })
    expect(told.bytes).toBe(statSync(path).size)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect((await readdir(folder)).filter((name) => name.startsWith('copy'))).toEqual(['copy.db'])
    const bytes = readFileSync(path).toString('latin1')
    for (const secret of [...as.secrets(), KEY, Buffer.alloc(32, 7).toString('latin1')])
      expect(bytes.includes(secret)).toBe(false)

    copyFileSync(path, join(folder, 'restored.db'))
    await using restored = await serveProcess({
      database: `file:${join(folder, 'restored.db')}`,
      masterKeys: [KEY],
    })
    await vi.waitFor(() => expect(restored.log()).toContain('this is a restored backup'), 300_000)
    for (const user of ['ada', 'bob']) {
      const { body } = await restored.call('POST', '/v1/auth/authorize', needOf(user))
      expect(as.isLive(body.context.token)).toBe(true)
    }
    const verified = await gatepass.runHereWith(
      { env: { GATEPASS_DATABASE_URL: `file:${join(folder, 'restored.db')}`, GATEPASS_MASTER_KEY: KEY } },
      ...['audit', 'verify'],
    )
    expect(verified.code, verified.stderr).toBe(0)
  })
})

test('a backup needs no key, replaces no file, and leaves nothing half-made behind', async () => {
  await gatepass.runHereWith({ env: { GATEPASS_MASTER_KEY: KEY } }, 'keys', 'create', '--role', 'admin')
  const database = `file:${join(gatepass.directory, 'x.db')}`
  const taken = join(folder, 'taken')
  writeFileSync(taken, 'mine')
  const refused = await backup(database, taken)
  expect(refused).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('is there already') })
  expect(readFileSync(taken, 'utf8')).toBe('mine')
  const nowhere = await backup(database, join(folder, 'no', 'such', 'folder'))
  expect(nowhere).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^No backup was made[^\n]+\n$/),
  })
  expect(await backup(`file:${join(folder, 'none.db')}`, join(folder, 'a'))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no database'),
  })

  // spaces around a setting do not count, as for a server
  expect(await backup(` ${database}\n`, join(folder, 'first'))).toMatchObject({ code: 0 })
  const doctor = await gatepass.runHereWith({ env: { GATEPASS_MASTER_KEY: KEY } }, 'doctor', '--json')
  expect(JSON.parse(doctor.stdout).checks).toContainEqual(
    expect.objectContaining({ name: 'backup', status: 'ok' }),
  )

  const keyless = await backup(database, join(folder, 'keyless'), { GATEPASS_MASTER_KEY: '' })
  expect(JSON.parse(keyless.stdout)).toMatchObject({ recorded: false, rows: { api_keys: 1 } })
  expect(await readdir(folder)).toEqual(['first', 'keyless', 'taken'])
})

test('a damaged database is not passed on as a backup', async () => {
  await gatepass.runHereWith({ env: { GATEPASS_MASTER_KEY: KEY } }, 'keys', 'create', '--role', 'admin')
  const path = join(gatepass.directory, 'x.db')
  const client = new Database(path)
  const root = client.prepare("select rootpage from sqlite_master where name = 'api_keys_hash_unique'")
  const page = root.pluck().get() as number
  client.close()
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(4096, 0x5a), 0, 4096, (page - 1) * 4096)
  closeSync(file)
  const outcome = await backupByProcess(`file:${path}`, join(folder, 'copy.db'))
  expect(outcome).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/^[^\n]+\n$/) })
  expect(await readdir(folder)).toEqual([])
})

test('one that was killed leaves nothing that looks like a backup, and the next one goes well', async () => {
  await gatepass.runHereWith({ env: { GATEPASS_MASTER_KEY: KEY } }, 'keys', 'create', '--role', 'admin')
  const database = `file:${join(gatepass.directory, 'x.db')}`
  const path = join(folder, 'copy.db')
  // when its pages are copied, before the copy is marked as a backup and checked
  const point: KillPoint = { when: 'before', statement: 'insert or replace into facts' }
  const env = { NODE_OPTIONS: `--import ${KILL_AT}`, TEST_KILL_AT: JSON.stringify(point) }
  const killed = await gatepass.runWith(settings(database, env), 'backup', '--to', path)
  expect(killed).toMatchObject({ code: -1, stdout: '' })
  const [partial = '', ...others] = await readdir(folder)
  expect([partial, others]).toEqual([expect.stringMatching(/^copy\.db\..+\.partial/), []])
  expect(statSync(join(folder, partial)).size).toBeGreaterThan(0)
  expect(await backup(database, path)).toMatchObject({ code: 0 })
  expect(await readdir(folder)).toEqual(['copy.db'])
})

/** A SQLite database that takes a while to copy. Returns its URL. */
async function largeDatabase(megabytes: number): Promise<string> {
  await gatepass.runHereWith({ env: { GATEPASS_MASTER_KEY: KEY } }, 'keys', 'create', '--role', 'admin')
  const client = new Database(join(gatepass.directory, 'x.db'))
  client.exec('create table ballast (bytes)')
  const insert = client.prepare('insert into ballast values (randomblob(1000000))')
  client.transaction(() => {
    for (let i = 0; i < megabytes; i++) insert.run()
  })()
  client.close()
  return `file:${join(gatepass.directory, 'x.db')}`
}

test('of two to the same file one is complete, and the other says that the file is there', async () => {
  const database = await largeDatabase(20)
  const path = join(folder, 'copy.db')
  const outcomes = await Promise.all([backupByProcess(database, path), backupByProcess(database, path)])
  const [done, refused] = outcomes.toSorted((a, b) => a.code - b.code)
  expect(done).toMatchObject({ code: 0, stderr: '' })
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('is there already') })
  expect(await readdir(folder)).toEqual(['copy.db'])
  const client = new Database(path, { readonly: true })
  expect(client.prepare('select count(*) from ballast').pluck().get()).toBe(20)
  client.close()
})

describe('a backup of PostgreSQL', () => {
  let database: FreshDatabase
  beforeEach(async () => {
    database = await freshDatabase()
    await (await openStore({ kind: 'postgres', url: database.url })).close()
  })
  afterEach(() => database[Symbol.asyncDispose]())

  const withoutKey = () => backup(database.url, join(folder, 'copy.db'), { GATEPASS_MASTER_KEY: '' })

  test.each([
    ['a later', "insert into schema_migrations values ('of a later release', 1)"],
    [
      'an earlier',
      'delete from schema_migrations where created_at = (select max(created_at) from schema_migrations)',
    ],
  ])('is refused if the database is of %s release', async (_, sql) => {
    await runSql(database.url, sql)
    const stderr = expect.stringMatching(/^[^\n]+ does not have the tables of this release[^\n]+\n$/)
    expect(await withoutKey()).toEqual({ code: 1, stdout: '', stderr })
    expect(await readdir(folder)).toEqual([])
  })

  test('reads each table twice, to copy and to compare it, however many rows it has', async () => {
    await runSql(
      database.url,
      "insert into facts select 'fact ' || i, 'value' from generate_series(1, 1200) as i",
    )
    await runSql(database.url, 'select pg_stat_reset()')
    expect(JSON.parse((await withoutKey()).stdout)).toMatchObject({ rows: { facts: 1201 } })
    // a server process reports its scans when it ends, after the client has closed the connection
    const others = `select from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`
    await until(async () => (await runSql(database.url, others)).rowCount === 0)
    const { rows } = await runSql(
      database.url,
      "select (seq_scan + idx_scan)::int as scans from pg_stat_user_tables where relname = 'facts'",
    )
    expect(rows).toEqual([{ scans: 2 }])
  })

  test('takes longer than the time limits of the database allow', async () => {
    const name = new URL(database.url).pathname.slice(1)
    await runSql(database.url, `alter database ${name} set idle_in_transaction_session_timeout = 1`)
    const outcome = await withoutKey()
    expect(outcome, outcome.stderr).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('an old backup that is restored', () => {
  async function restoredLater(refresh: 'rotate-strict' | 'static', others: readonly string[] = []) {
    const scene = await startScene({ as: { refresh, accessTokenLifetime: 600 } })
    await scene.connect()
    for (const user_id of others) await scene.connect({ user_id })
    const pending = (await scene.authorize({ user_id: 'u2' })).body.id
    const path = join(folder, 'old.db')
    expect(await backup(`file:${scene.gatepass.databasePath}`, path)).toMatchObject({ code: 0 })
    // life goes on: the refresh token of the backup is used, and a rotating server gives another one
    scene.clock.advance(1_000)
    for (const user_id of ['u1', ...others])
      expect((await scene.authorize({ user_id })).body.status).toBe('completed')
    scene.clock.advance(1_000)
    const start = () => startGatepass({ databasePath: path, now: scene.clock })
    return { scene, pending, path, start }
  }

  test('says of a rotated token that it was lost, and never counts it as the user’s will', async () => {
    const { scene, pending, start } = await restoredLater('rotate-strict')
    await using _ = scene
    await using restored = await start()
    expect(restored.logLines.join('\n')).toContain('this is a restored backup')
    const asked = await restored.call('GET', `/v1/auth/status?id=${pending}`)
    expect(asked.body).toMatchObject({ status: 'failed', reason: 'expired' })

    const { body } = await authorize(restored)
    expect(body.status).toBe('pending')
    const held = (await restored.call('GET', '/v1/connections?user_id=u1')).body.items
    expect(held).toMatchObject([{ status: 'needs_authorization', status_reason: 'refresh_outcome_lost' }])
    const blocks = await restored.broker.store.audit.blocks(
      defined(await restored.broker.store.projects.findByName('default')).id,
      { order: 'newest first', limit: 100, containing: ['installation.restored'] },
    )
    expect(blocks).toHaveLength(1)
  })

  test('gives each of many users a link at once, and sends each rotated token once', async () => {
    const others = Array.from({ length: 12 }, (_, i) => `user ${i}`)
    const { scene, start } = await restoredLater('rotate-strict', others)
    await using _ = scene
    await using restored = await start()
    const before = scene.as.tokenRequests('refresh_token').length
    for (let round = 0; round < 2; round++)
      for (const user_id of ['u1', ...others])
        expect(await authorize(restored, { user_id })).toMatchObject({
          status: 200,
          body: { status: 'pending', url: expect.any(String) },
        })
    expect(scene.as.tokenRequests('refresh_token')).toHaveLength(before + others.length + 1)
    expect(restored.logLines.join('\n')).not.toContain('refuses many grants')
  })

  test('goes on as if nothing had been where refresh tokens are not rotated', async () => {
    const { scene, path, start } = await restoredLater('static')
    await using _ = scene
    const first = await start()
    await first.close()
    await using second = await start()
    expect(second.logLines.join('\n')).not.toContain('restored backup')
    const client = new Database(path, { readonly: true })
    expect(client.prepare('select unanswered_refreshes from connections').pluck().all()).toEqual([1])
    client.close()
    const { body } = await authorize(second)
    expect(body.status).toBe('completed')
    expect(scene.as.isLive(body.context.token)).toBe(true)
  })
})
