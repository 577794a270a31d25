import Database from 'better-sqlite3'
import { PgDialect } from 'drizzle-orm/pg-core/dialect'
import { SQLiteDialect } from 'drizzle-orm/sqlite-core/dialect'
import pg from 'pg'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { startWorld } from '../http/world.ts'
import { freshDatabase } from '../postgres.ts'
import { everyRequest } from './every-request.ts'
import { declaredStatements, everyList } from './every-statement.ts'
import { EXCEPTIONS, type Exception } from './plan-exceptions.ts'
import { postgresPlanner, sqlitePlanner } from './plans.ts'

// Building and preparing a query costs several times what running it does, so each statement is built and prepared once
// in a process. Each must also find its rows by an index: a statement that scans or sorts a growing table would delay
// every request of a large installation.

afterEach(() => vi.restoreAllMocks())

/** SQL texts in the order in which they were built, or prepared for the first time. */
interface Watched {
  readonly built: string[]
  readonly prepared: string[]
}

function watchSqlite(): Watched {
  const watched: Watched = { built: [], prepared: [] }
  const { prepare } = Database.prototype
  vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (this: Database.Database, text) {
    watched.prepared.push(text)
    return prepare.call(this, text)
  })
  const { sqlToQuery } = SQLiteDialect.prototype
  vi.spyOn(SQLiteDialect.prototype, 'sqlToQuery').mockImplementation(function (this: SQLiteDialect, ...args) {
    const query = sqlToQuery.apply(this, args)
    watched.built.push(query.sql)
    return query
  })
  return watched
}

/** A connection prepares a statement under its name; a statement without a name is parsed on every call. */
function watchPostgres(): Watched {
  const watched: Watched = { built: [], prepared: [] }
  const named = new Set<string>()
  const query: (...args: unknown[]) => unknown = pg.Client.prototype.query
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [asked] = args as [string | { readonly text: string; readonly name?: string }]
    const { text, name } = typeof asked === 'string' ? { text: asked, name: undefined } : asked
    const isControl = /^(begin|commit|rollback|listen|notify|set|select 1$)/i.test(text.trim())
    if (!isControl && (name === undefined || !named.has(`${name} ${text}`))) watched.prepared.push(text)
    if (name !== undefined) named.add(`${name} ${text}`)
    return query.apply(this, args)
  } as typeof pg.Client.prototype.query)
  const { sqlToQuery } = PgDialect.prototype
  vi.spyOn(PgDialect.prototype, 'sqlToQuery').mockImplementation(function (this: PgDialect, ...args) {
    const built = sqlToQuery.apply(this, args)
    watched.built.push(built.sql)
    return built
  })
  return watched
}

async function onSqlite() {
  const world = await startWorld()
  return {
    world,
    planner: async () => sqlitePlanner(world.gatepass.databasePath),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}

async function onPostgres() {
  const database = await freshDatabase()
  const world = await startWorld({ gatepass: { environment: { GATEPASS_DATABASE_URL: database.url } } })
  return {
    world,
    planner: () => postgresPlanner(database.url),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

describe.each([
  { name: 'SQLite', watch: watchSqlite, start: onSqlite, database: 'sqlite' },
  { name: 'PostgreSQL', watch: watchPostgres, start: onPostgres, database: 'postgres' },
] as const)('on $name', ({ watch, start, database }) => {
  test('no statement is built or prepared twice, and every statement finds its rows by an index', async () => {
    const watched = watch()
    await using on = await start()
    const requests = await everyRequest(on.world)
    for (const name of ['first', 'second']) await requests.round(name)
    expect(new Set(watched.prepared).size).toBeGreaterThan(100)
    const known = [...watched.prepared]

    // a background job may run for the first time during a round; a request that builds or prepares does so in each
    for (const name of ['third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth']) {
      watched.prepared.length = 0
      watched.built.length = 0
      await requests.round(name)
      if (watched.prepared.length + watched.built.length === 0) break
    }

    expect(watched).toEqual({ built: [], prepared: [] })
    requests.expectAllAnswered()

    await everyList(on.world.gatepass.broker.store)
    const texts = new Set([...known, ...watched.prepared, ...declaredStatements(database)])
    vi.restoreAllMocks()
    const exceptions = EXCEPTIONS.filter(({ only = database }) => only === database)
    const needed = new Set<Exception>()
    const faults: string[] = []
    await using planner = await on.planner()
    for (const text of texts) {
      if (!/^\s*(select|insert|update|delete|with)\b/i.test(text)) continue
      const found = await planner.faultsOf(text, false)
      const exception =
        found.length > 0 ? exceptions.find(({ statement }) => statement.test(text)) : undefined
      if (exception !== undefined) needed.add(exception)
      const rest = exception === undefined ? found : exception.sorts ? await planner.faultsOf(text, true) : []
      faults.push(...rest.map((fault) => `${fault}\n  ${text}`))
    }
    expect(faults.join('\n')).toBe('')
    // an exception that no statement needs must be removed
    expect(exceptions.filter((exception) => !needed.has(exception))).toEqual([])
  })
})
