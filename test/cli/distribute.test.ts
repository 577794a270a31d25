import { afterEach, beforeEach, expect, test } from 'vitest'
import { openPostgresStore } from '../../src/store/dialects/postgres/open.ts'
import { freshDatabase, runSql } from '../postgres.ts'
import { type Installation, install } from './gatepass.ts'

let gatepass: Installation
beforeEach(async () => {
  gatepass = await install()
})
afterEach(async () => {
  await gatepass[Symbol.asyncDispose]()
})

const on = (url: string, ...args: readonly string[]) =>
  gatepass.runHereWith({ env: { GATEPASS_DATABASE_URL: url } }, ...args)

test('the distributed form needs Citus, and nothing is left behind without it', async () => {
  await using database = await freshDatabase()
  const refused = await on(database.url, 'migrate', '--distribute', '32')
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('no extension citus') })
  const { rows } = await runSql(database.url, "select to_regclass('schema_migrations') as name")
  expect(rows).toEqual([{ name: null }])
  expect(await on(database.url, 'migrate')).toMatchObject({ code: 0 })
})

test('the form is chosen for an empty PostgreSQL database, alone and within bounds', async () => {
  await using database = await freshDatabase()
  await (await openPostgresStore(database.url, { distribute: 0 })).close()
  expect(await on(database.url, 'migrate')).toMatchObject({ code: 0 })
  const other = await on(database.url, 'migrate', '--distribute', '32')
  expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('distributed over 0 shards') })
  const partitions = await on(database.url, 'migrate', '--partitions', '8')
  expect(partitions).toMatchObject({ code: 1, stderr: expect.stringContaining('distributed over 0 shards') })

  const both = await on(database.url, 'migrate', '--distribute', '32', '--partitions', '8')
  expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('give one of them') })
  const sqlite = await on('file:unused.db', 'migrate', '--distribute', '32')
  expect(sqlite).toMatchObject({ code: 2, stderr: expect.stringContaining('Citus') })
  for (const wrong of ['1', '1025', '8.5', 'many'])
    expect(await on(database.url, 'migrate', '--distribute', wrong)).toMatchObject({ code: 2 })
})

test('a database in use is not distributed', async () => {
  await using database = await freshDatabase()
  expect(await on(database.url, 'migrate')).toMatchObject({ code: 0 })
  const begun = await on(database.url, 'migrate', '--distribute', '32')
  expect(begun).toMatchObject({ code: 1, stderr: expect.stringContaining('has no distributed tables') })
})
