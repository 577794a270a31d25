import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openPostgresStore } from '../../src/store/dialects/postgres/open.ts'
import { startWorld } from '../http/world.ts'
import { type FreshDatabase, freshDatabase, runSql } from '../postgres.ts'
import { everyRequest } from './every-request.ts'
import { OF_ALL_OWNERS, OF_OWNERS, watchStatements } from './owner-statements.ts'

// The texts of all statements of the distributed form about connections and authorizations, checked by the rules of Citus
// for tables that are distributed by owner, on a PostgreSQL without it.

let database: FreshDatabase
/** The statements of every request and job about the two tables. */
let texts: readonly string[]
/** By the name of a function: `i` immutable, `s` stable, `v` volatile. `length` is stable only for bytes in an encoding. */
let volatility: ReadonlyMap<string, string>

beforeAll(async () => {
  database = await freshDatabase()
  await (await openPostgresStore(database.url, { distribute: 0 })).close()
  const watched = watchStatements()
  {
    await using world = await startWorld({
      gatepass: { environment: { GATEPASS_DATABASE_URL: database.url } },
    })
    const requests = await everyRequest(world)
    await requests.round('first')
    requests.expectAllAnswered()
  }
  vi.restoreAllMocks()
  texts = [...new Set(watched.map(({ text }) => text))].filter((text) => OF_OWNERS.test(text))
  const { rows } = await runSql(
    database.url,
    'select proname as name, min(provolatile) as volatility from pg_proc group by proname', // i < s < v
  )
  volatility = new Map(rows.map(({ name, volatility }) => [String(name), String(volatility)]))
})
afterAll(() => database[Symbol.asyncDispose]())

test('the round reads, writes, locks and deletes rows of both tables', () => {
  const kinds = ['select', 'insert into', 'update', 'delete from', 'select .+ for update']
  for (const table of ['connections', 'authorizations'])
    for (const kind of kinds.slice(0, 4))
      expect(
        texts.some((text) => new RegExp(`^${kind}\\b.*"${table}"`, 's').test(text)),
        `${kind} ${table}`,
      ).toBe(true)
  expect(texts.some((text) => LOCKS.test(text))).toBe(true)
})

test('a write uses no volatile function', () => {
  expect(faultsIn(writesOfOwners(), (text) => functionsIn(text, 'v'))).toEqual([])
})

test('DO UPDATE SET, CASE, COALESCE and RETURNING of a write use immutable functions only, and no subselect', () => {
  const parts = (text: string) => [
    ...(text.match(/\bdo update set .+?(?= where | returning |$)/gs) ?? []),
    ...(text.match(/\breturning .+$/gs) ?? []),
    ...(text.match(/\bcase .+? end\b/gs) ?? []),
    ...callsOf('coalesce', text),
  ]
  const found = faultsIn(writesOfOwners(), (text) =>
    parts(text).flatMap((part) => [
      ...functionsIn(part, 'v'),
      ...functionsIn(part, 's'),
      ...(part.match(/\(select\b/g) ?? []),
    ]),
  )
  expect(found).toEqual([])
})

test('a statement has the owner of its rows, or a reason to go over all', () => {
  const needed = new Set<object>()
  const faults = texts.filter((text) => {
    if (HAS_OWNER.test(text)) return false
    const exception = OF_ALL_OWNERS.find(({ statement }) => statement.test(text))
    if (exception !== undefined) needed.add(exception)
    return exception === undefined
  })
  expect(faults).toEqual([])
  expect(OF_ALL_OWNERS.filter((exception) => !needed.has(exception))).toEqual([])
})

test('a statement that locks rows has one owner', () => {
  expect(texts.filter((text) => LOCKS.test(text) && !HAS_ONE_OWNER.test(text))).toEqual([])
})

test('no foreign key leads to or from the tables of owners', async () => {
  const { rows } = await runSql(
    database.url,
    `select conname from pg_constraint where contype = 'f'
      and (conrelid in ('connections'::regclass, 'authorizations'::regclass)
        or confrelid in ('connections'::regclass, 'authorizations'::regclass))`,
  )
  expect(rows).toEqual([])
})

test('each unique index of the tables of owners has the owner', async () => {
  const { rows } = await runSql(
    database.url,
    `select pg_get_indexdef(indexrelid) as definition from pg_index
      where indisunique and indrelid in ('connections'::regclass, 'authorizations'::regclass)`,
  )
  const definitions = rows.map(({ definition }) => String(definition))
  expect(definitions.length).toBeGreaterThan(4)
  expect(definitions.filter((one) => !one.includes('owner_bits'))).toEqual([])
})

/** The column with one value; or, in an INSERT, as one of the written columns. */
const HAS_ONE_OWNER = /owner_bits"? = \$\d|^insert into "\w+" \([^)]*"owner_bits"/
const HAS_OWNER = new RegExp(`${HAS_ONE_OWNER.source}|owner_bits"? = any\\(\\$\\d`)
const LOCKS = /\bfor (no key )?update\b|\bfor (key )?share\b/

function writesOfOwners(): readonly string[] {
  return texts.filter((text) => /^(update|delete from|insert into) "(connections|authorizations)"/.test(text))
}

function faultsIn(
  from: readonly string[],
  faultsOf: (text: string) => readonly string[],
): readonly (readonly string[])[] {
  return from.map((text) => [...faultsOf(text), text]).filter(({ length }) => length > 1)
}

/** The functions of this volatility that a text calls. */
function functionsIn(text: string, kind: 's' | 'v'): readonly string[] {
  const called = [...text.matchAll(/\b([a-z_0-9]+)\(/g)].flatMap(([, name]) => name ?? [])
  const stable = kind === 's' ? [...text.matchAll(/\b(current_timestamp|localtimestamp)\b/g)] : []
  return [...called.filter((name) => volatility.get(name) === kind), ...stable.map(([name]) => name)]
}

/** The calls of a function, with all that is within their parentheses. */
function callsOf(name: string, text: string): readonly string[] {
  return [...text.matchAll(new RegExp(`\\b${name}\\(`, 'g'))].map(({ index }) => {
    let [depth, end] = [0, index + name.length]
    do {
      depth += text[end] === '(' ? 1 : text[end] === ')' ? -1 : 0
      end++
    } while (depth > 0 && end < text.length)
    return text.slice(index, end)
  })
}
