import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { COPIED_TABLES } from '../../src/copying/copy-rows.ts'
import { freshDatabase, runSql } from '../postgres.ts'
import { serveProcess } from '../served.ts'
import { startSealedInstallation } from '../store/sealed-installation.ts'
import { type Installation, install } from './gatepass.ts'

const KEY = Buffer.alloc(32, 7).toString('base64')

let gatepass: Installation
let folder: string
beforeEach(async () => {
  gatepass = await install()
  folder = await mkdtemp(join(tmpdir(), 'gatepass-partitions-'))
})
afterEach(async () => {
  await gatepass[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const file = (name: string) => join(folder, name)

const on = (url: string, ...args: readonly string[]) =>
  gatepass.runHereWith({ env: { GATEPASS_MASTER_KEY: KEY, GATEPASS_DATABASE_URL: url } }, ...args)

async function partitionsIn(url: string): Promise<Record<string, number>> {
  const { rows } = await runSql(
    url,
    'select inhparent::regclass::text as name, count(*)::int as count from pg_inherits group by 1',
  )
  const tables = rows.filter(({ name }) => /^(connections|authorizations)$/.test(String(name)))
  return Object.fromEntries(tables.map(({ name, count }) => [String(name), Number(count)]))
}

function rowsOf(path: string) {
  const client = new Database(path, { readonly: true })
  const rows = ['connections', 'authorizations', 'providers', 'projects'].map((name) => {
    const key = COPIED_TABLES.find((table) => table.name === name)?.key.join()
    return client.prepare(`select * from ${name} order by ${key}`).all()
  })
  client.close()
  return rows
}

test('an empty database gets its partitions once', async () => {
  await using database = await freshDatabase()
  const made = await on(database.url, 'migrate', '--partitions', '8', '--json')
  expect(made, made.stderr).toMatchObject({ code: 0 })
  expect(JSON.parse(made.stdout)).toMatchObject({ partitions: 8 })
  expect(await partitionsIn(database.url)).toEqual({ connections: 8, authorizations: 8 })

  for (const args of [[], ['--partitions', '8']]) {
    const again = await on(database.url, 'migrate', ...args)
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('already up to date') })
  }
  const other = await on(database.url, 'migrate', '--partitions', '16')
  expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('has 8 partitions') })
})

test('tables that exist are not partitioned, SQLite has no partitions, and their number has bounds', async () => {
  await using database = await freshDatabase()
  expect(await on(database.url, 'migrate')).toMatchObject({ code: 0 })
  const begun = await on(database.url, 'migrate', '--partitions', '8')
  expect(begun).toMatchObject({ code: 1, stderr: expect.stringContaining('has no partitions') })
  expect(await partitionsIn(database.url)).toEqual({})

  const sqlite = await on(`file:${file('a.db')}`, 'migrate', '--partitions', '8')
  expect(sqlite).toMatchObject({ code: 2, stderr: expect.stringContaining('PostgreSQL') })
  for (const wrong of ['1', '129', '8.5', 'many'])
    expect(await on(database.url, 'migrate', '--partitions', wrong)).toMatchObject({ code: 2 })
})

test('an installation is moved into partitions and back, row by row, and is served from them', async () => {
  await (await startSealedInstallation({ gatepass: { databasePath: file('a.db') } }))[Symbol.asyncDispose]()
  const before = rowsOf(file('a.db'))
  await using database = await freshDatabase()
  const move = (from: string, to: string, ...more: readonly string[]) =>
    on('file:unused.db', 'migrate', '--from', from, '--to', to, '--json', ...more)
  const there = await move(`file:${file('a.db')}`, database.url, '--partitions', '8')
  expect(there, there.stderr).toMatchObject({ code: 0, stderr: '' })
  expect(await partitionsIn(database.url)).toEqual({ connections: 8, authorizations: 8 })

  {
    await using node = await serveProcess({ database: database.url, masterKeys: [KEY] })
    const { items } = (await node.call('GET', '/v1/connections?user_id=ada')).body
    expect(items).toHaveLength(1)
    expect(await node.call('GET', `/v1/connections/${items[0].id}`)).toMatchObject({ status: 200 })
  }
  const backedUp = await on(database.url, 'backup', '--to', file('backup.db'))
  expect(backedUp, backedUp.stderr).toMatchObject({ code: 0 })
  const back = await move(database.url, `file:${file('b.db')}`)
  expect(back, back.stderr).toMatchObject({ code: 0, stderr: '' })
  for (const name of ['backup.db', 'b.db']) expect(rowsOf(file(name)), name).toEqual(before)

  await using restored = await freshDatabase()
  expect(await on(restored.url, 'migrate', '--partitions', '8')).toMatchObject({ code: 0 })
  const result = await on(restored.url, 'restore', file('backup.db'))
  expect(result, result.stderr).toMatchObject({ code: 0 })
  const { rows } = await runSql(restored.url, 'select count(*)::int as count from connections')
  expect(rows).toEqual([{ count: before[0]?.length }])
})
