import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPostgresStore } from '../../src/store/dialects/postgres/open.ts'
import { type FreshDatabase, freshDatabase, runSql } from '../postgres.ts'
import { storeConformance } from './conformance.ts'
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
    const unique = (shape: readonly string[]) =>
      shape.filter((line) => /^CREATE UNIQUE|^PRIMARY KEY|^UNIQUE/.test(line))
    expect(unique(partitioned)).toHaveLength(unique(usual).length)
    expect(unique(partitioned).filter((line) => !line.includes(', owner_bits'))).toEqual([])
  })

  test('can run every later migration: none creates a unique index without `owner_bits`', () => {
    const folder = new URL('../../drizzle/postgres/', import.meta.url)
    const later = readdirSync(folder).filter(
      (name) => name.endsWith('.sql') && name > '0012_lists_by_uid.sql',
    )
    const statements = later.flatMap((name) =>
      readFileSync(new URL(name, folder), 'utf8').split('--> statement-breakpoint'),
    )
    const unique = /\b(unique|primary key)\b/i
    const ofPartitioned = /\bon "(connections|authorizations)"|alter table "(connections|authorizations)"/i
    expect(statements.filter((one) => unique.test(one) && ofPartitioned.test(one))).toEqual([])
  })

  test('has a migration that older releases do not know, so they refuse the database as one of a newer release', async () => {
    const { rows } = await runSql(database.url, 'select hash from schema_migrations where length(hash) <> 64')
    expect(rows).toEqual([{ hash: 'partitions 64' }])
  })
})

/** Columns, constraints and indexes of the two tables, without the column `owner_bits` itself. */
async function shapeOf(url: string): Promise<readonly string[]> {
  const { rows } = await runSql(
    url,
    `select concat_ws(' ', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull,
        pg_get_expr(adbin, adrelid)) as line
      from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where attrelid in ('connections'::regclass, 'authorizations'::regclass)
        and attnum > 0 and attname <> 'owner_bits'
    union all
    select concat_ws(' ', pg_get_constraintdef(oid), conrelid::regclass, conname) from pg_constraint
      where conrelid in ('connections'::regclass, 'authorizations'::regclass) and contype in ('p', 'u', 'f')
    union all
    select replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') from pg_index
      where indrelid in ('connections'::regclass, 'authorizations'::regclass)`,
  )
  return rows.map(({ line }) => String(line)).sort()
}
