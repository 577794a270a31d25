import { drizzle as drizzleSqlite } from 'drizzle-orm/better-sqlite3'
import { drizzle } from 'drizzle-orm/node-postgres'
import { PgDialect } from 'drizzle-orm/pg-core'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { EXECUTION_STATUSES } from '../../src/domain/execution.ts'
import { createNouns } from '../../src/store/create-nouns.ts'
import type { Database } from '../../src/store/database.ts'
import { postgresDialect } from '../../src/store/dialects/postgres/dialect.ts'
import { postgresKit } from '../../src/store/dialects/postgres/schema.ts'
import { sqliteDialect } from '../../src/store/dialects/sqlite/dialect.ts'
import { sqliteKit } from '../../src/store/schema-kit.ts'
import { createStatementMaker, type StatementMaker } from '../../src/store/statement.ts'
import type { Store } from '../../src/store/store.ts'
import { allTables, SEALED_COLUMNS, storeParts } from '../../src/store/store-parts.ts'

/**
 * The texts of all statements that the nouns of a database declare. A statement with variants is made when it is first
 * used: `everyList` uses the variants of lists.
 */
export function declaredStatements(database: 'sqlite' | 'postgres'): readonly string[] {
  const texts: string[] = []
  const recording =
    (make: StatementMaker): StatementMaker =>
    (build) => {
      const statement = make(build)
      texts.push(statement({} as never).text)
      return statement
    }
  const notRun = () => {
    throw new Error('these statements are only built, not run')
  }
  const parts =
    database === 'sqlite'
      ? {
          tables: allTables(sqliteKit),
          query: drizzleSqlite.mock(),
          dialect: sqliteDialect,
          maker: createStatementMaker((query) => new SQLiteSyncDialect().sqlToQuery(query)),
        }
      : {
          tables: allTables(postgresKit),
          query: drizzle.mock() as unknown as Database['query'], // has every method that the nouns call
          dialect: postgresDialect,
          maker: createStatementMaker((query) => new PgDialect().sqlToQuery(query)),
        }
  const { maker, ...rest } = parts
  const unused = { append: notRun, release: notRun }
  createNouns(
    { ...rest, statement: recording(maker), read: notRun, write: notRun, writeRepeatable: notRun },
    unused,
    storeParts,
  )
  return texts
}

/** Reads each list by every combination of its filters, by offset and by cursor, and the envelopes of each column. */
export async function everyList({
  connections,
  executions,
  mcpConsents,
  apiKeys,
  consoleLists,
  envelopes,
}: Store): Promise<void> {
  for (const column of SEALED_COLUMNS) await envelopes.ofOtherKeys(column, 'no key', '', 1)
  for (const place of [{}, { before: 'x' }, { after: 'x' }]) {
    for (const by of [{}, { userId: 'u' }, { providerUid: 'x' }, { status: 'active' as const }])
      await consoleLists.connections('p', by, place, 1)
    for (const by of [{}, { status: 'failed' as const }]) await consoleLists.authorizations('p', by, place, 1)
    for (const by of [{}, { userId: 'u' }, { toolId: 't' }, { type: 'scheduled' as const }])
      await executions.browse('p', by, place, 1)
    for (const status of EXECUTION_STATUSES)
      if (status !== 'completed') await executions.browse('p', { status }, place, 1)
  }
  const pages = [
    { offset: 1, limit: 1 },
    { offset: 0, limit: 1, after: 'x' },
  ]
  for (const page of pages) {
    await apiKeys.page('p', page)
    for (const user of [{}, { userId: 'u' }]) {
      await mcpConsents.list('p', user, page)
      for (const provider of [{}, { providerUid: 'x' }])
        await connections.list('p', { ...user, ...provider }, page)
      for (const tool of [{}, { toolId: 't' }])
        for (const type of [{}, { type: 'scheduled' as const }, { type: 'immediate' as const }])
          for (const status of [undefined, ...EXECUTION_STATUSES])
            await executions.list('p', { ...user, ...tool, ...type, ...(status && { status }) }, page)
    }
  }
}
