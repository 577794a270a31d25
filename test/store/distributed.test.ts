import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { differencesOf } from '../../src/store/dialects/postgres/distribution.ts'
import { POSTGRES_RETRIES } from '../../src/store/dialects/postgres/failures.ts'
import { openPostgresStore } from '../../src/store/dialects/postgres/open.ts'
import { type FreshDatabase, freshDatabase, runSql } from '../postgres.ts'
import { until } from '../until.ts'
import { storeConformance } from './conformance.ts'
import { connected, connection, inProject } from './fixtures.ts'
import { isUnique, laterStatements, shapeOf } from './owner-shape.ts'
import { type ReusedDatabase, reuseDatabase } from './reused-postgres.ts'

// The form of `gatepass migrate --distribute` on plain PostgreSQL: the same tables and statements as on Citus, which places
// the rows on other machines.

let database: FreshDatabase
let reused: ReusedDatabase

beforeAll(async () => {
  database = await freshDatabase()
  reused = await reuseDatabase(database, { distribute: 0 })
})
afterAll(async () => {
  await reused.close()
  await database[Symbol.asyncDispose]()
})

storeConformance('distributed postgres', () => reused.open())

describe('a distributed table', () => {
  test('has the columns and indexes of a plain one, `owner_bits` in each unique index, and no foreign key', async () => {
    await using plain = await freshDatabase()
    await (await openPostgresStore(plain.url)).close()
    const [distributed, usual] = [await shapeOf(database.url), await shapeOf(plain.url)]
    const withoutReferences = usual.filter((line) => !line.startsWith('FOREIGN KEY'))
    expect(withoutReferences.length).toBeLessThan(usual.length)
    expect(distributed.map((line) => line.replace(/, owner_bits\b/, ''))).toEqual(withoutReferences)
    expect(distributed.filter(isUnique)).toHaveLength(usual.filter(isUnique).length)
    expect(distributed.filter(isUnique).filter((line) => !line.includes(', owner_bits'))).toEqual([])
  })

  test('can run every later migration: none adds a foreign key', () => {
    expect(laterStatements().filter((one) => /\breferences\b/i.test(one))).toEqual([])
  })

  test('has a migration that older releases do not know, so they refuse the database as one of a newer release', async () => {
    const { rows } = await runSql(database.url, 'select hash from schema_migrations where length(hash) <> 64')
    expect(rows).toEqual([{ hash: 'distributed 0' }])
  })
})

test('each transaction writes a table of the coordinator that is committed in two phases, before anything else', async () => {
  await using opened = await reused.open()
  const sent = vi.spyOn(pg.Client.prototype, 'query')
  const { owner } = await inProject(opened.store)
  await connected(opened.store, owner)
  const begun = sent.mock.calls.map(([asked]) => String(asked)).filter((text) => text.startsWith('begin'))
  sent.mockRestore()
  const { opening } = differencesOf({ kind: 'distributed', count: 0 })
  expect(opening).toContain('two_phase')
  expect(begun.length).toBeGreaterThan(1)
  expect(begun.filter((text) => !text.startsWith(`${opening};`))).toEqual([])
})

test('a connection that is stored while its provider is deleted is deleted with it', async () => {
  await using opened = await reused.open()
  const { store } = opened
  const { owner, entry } = await inProject(store)
  await connected(store, owner)
  const consent = new pg.Client({ connectionString: database.url })
  await consent.connect()
  try {
    await consent.query('create temporary table stored as select * from connections')
    await consent.query('begin')
    await consent.query('select from providers where uid = $1 for key share', [owner.providerUid])
    const deleted = store.providers.delete(owner.projectId, entry.id)
    const isWaiting = async () => {
      const { rows } = await runSql(
        database.url,
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
      return rows.length > 0
    }
    await until(isWaiting)
    await consent.query("update stored set id = id || 'b'")
    await consent.query('insert into connections select * from stored')
    await consent.query('commit')
    expect(await deleted).toBe(true)
  } finally {
    await consent.end()
  }
  expect((await runSql(database.url, 'select id from connections')).rows).toEqual([])
})

test('no connection is stored at a provider that was deleted', async () => {
  await using opened = await reused.open()
  const { store } = opened
  const { owner, entry } = await inProject(store)
  await store.providers.delete(owner.projectId, entry.id)
  const imported = store.connections.addImported(connection(owner), { replaces: false, makeDefault: false })
  await expect(imported).rejects.toMatchObject({ code: 'already_exists' })
  expect((await runSql(database.url, 'select id from connections')).rows).toEqual([])
})

test.each([
  ['connections_default_102040', true],
  ['connections_account_102041', false],
])('Citus names the index of a shard, %s, only in the message: tried again: %s', (index, isTransient) => {
  const message = `duplicate key value violates unique constraint "${index}"`
  const error = Object.assign(new pg.DatabaseError(message, 0, 'error'), { code: '23505' })
  expect(POSTGRES_RETRIES.isTransient?.(error)).toBe(isTransient)
})
