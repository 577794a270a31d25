import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPostgresStore } from '../../src/store/dialects/postgres/open.ts'
import { type FreshDatabase, freshDatabase, runSql } from '../postgres.ts'
import { storeConformance } from './conformance.ts'
import { isUnique, laterStatements, shapeOf } from './owner-shape.ts'
import { type ReusedDatabase, reuseDatabase } from './reused-postgres.ts'

let database: FreshDatabase
let reused: ReusedDatabase

beforeAll(async () => {
  database = await freshDatabase()
  reused = await reuseDatabase(database, { partitions: 64 })
})
afterAll(async () => {
  await reused.close()
  await database[Symbol.asyncDispose]()
})

// the fixtures make ids of older releases, which do not hold the bits of their owner's hash
storeConformance('partitioned postgres', () => reused.open())

describe('a partitioned table', () => {
  test('has the columns, foreign keys and indexes of a plain one, and `owner_bits` in each unique index', async () => {
    await using plain = await freshDatabase()
    await (await openPostgresStore(plain.url)).close()
    const [partitioned, usual] = [await shapeOf(database.url), await shapeOf(plain.url)]
    expect(partitioned.map((line) => line.replace(/, owner_bits\b/, ''))).toEqual(usual)
    expect(partitioned.filter(isUnique)).toHaveLength(usual.filter(isUnique).length)
    expect(partitioned.filter(isUnique).filter((line) => !line.includes(', owner_bits'))).toEqual([])
  })

  test('can run every later migration: none creates a unique index without `owner_bits`', () => {
    const ofTable = /\bon "(connections|authorizations)"|alter table "(connections|authorizations)"/i
    const unique = /\b(unique|primary key)\b/i
    expect(laterStatements().filter((one) => unique.test(one) && ofTable.test(one))).toEqual([])
  })

  test('has a migration that older releases do not know, so they refuse the database as one of a newer release', async () => {
    const { rows } = await runSql(database.url, 'select hash from schema_migrations where length(hash) <> 64')
    expect(rows).toEqual([{ hash: 'partitions 64' }])
  })
})
