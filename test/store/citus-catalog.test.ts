import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { openPostgresStore } from '../../src/store/dialects/postgres/open.ts'
import { startGatepass } from '../gatepass.ts'
import { runSql } from '../postgres.ts'
import { until } from '../until.ts'
import { databaseWithCatalog } from './citus-catalog.ts'

// What Gatepass reads in the catalog of Citus, on a PostgreSQL that has the same tables and functions.

test.each([
  [
    'the coordinator has no address',
    'delete from pg_dist_node where groupid = 0',
    'citus_set_coordinator_host',
  ],
  [
    'no worker takes shards',
    'update pg_dist_node set shouldhaveshards = false',
    'no worker that takes shards',
  ],
])('the distributed form is refused when %s, and nothing is left behind', async (_, sql, message) => {
  await using database = await databaseWithCatalog()
  await runSql(database.url, sql)
  await expect(openPostgresStore(database.url, { distribute: 32 })).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining(message),
  })
  const { rows } = await runSql(database.url, "select to_regclass('schema_migrations') as name")
  expect(rows).toEqual([{ name: null }])
})

test.each([
  [
    'a table is not distributed by its owners',
    "update pg_dist_partition set partkey = 'id' where logicalrelid = 'connections'::regclass",
    'does not have the tables as',
  ],
  [
    'the two tables are not colocated',
    "update pg_dist_partition set colocationid = 99 where logicalrelid = 'authorizations'::regclass",
    'does not have the tables as',
  ],
  [
    'a table that makes it commit in two phases is not managed',
    "delete from pg_dist_partition where logicalrelid = 'two_phase'::regclass",
    'does not have the tables as',
  ],
  [
    'a worker prepares no transactions',
    "update pg_dist_node set max_prepared = 0 where nodename = 'two'",
    'The worker two has max_prepared_transactions 0',
  ],
])('a start is refused when %s', async (_, sql, message) => {
  await using database = await databaseWithCatalog()
  await (await openPostgresStore(database.url, { distribute: 32 })).close()
  await (await openPostgresStore(database.url)).close()
  await runSql(database.url, sql)
  await expect(openPostgresStore(database.url)).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining(message),
  })
})

test('a start passes over a worker that does not answer; /ready and the log name it until it does', async () => {
  await using database = await databaseWithCatalog()
  await (await openPostgresStore(database.url, { distribute: 32 })).close()
  await runSql(
    database.url,
    "update pg_dist_node set answers = false, max_prepared = 0 where nodename = 'two'",
  )
  await using gatepass = await startGatepass({ environment: { GATEPASS_DATABASE_URL: database.url } })
  const isReady = async (unavailable: object) =>
    isDeepStrictEqual((await gatepass.call('GET', '/ready')).body, { ready: true, ...unavailable })
  await until(() => isReady({ unavailable_database_workers: ['worker 3'] }))
  expect(gatepass.logLines.filter((line) => line.includes('two:5433'))).toHaveLength(1)
  await runSql(database.url, 'update pg_dist_node set answers = true')
  await until(() => isReady({}))
})
