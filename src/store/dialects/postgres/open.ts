import { drizzle } from 'drizzle-orm/node-postgres'
import { PgDialect } from 'drizzle-orm/pg-core'
import type pg from 'pg'
import { BrokerError } from '../../../domain/errors.ts'
import type { StoreChange } from '../../changes.ts'
import { createNouns } from '../../create-nouns.ts'
import type { Database } from '../../database.ts'
import { retry } from '../../retry.ts'
import { type BoundStatement, createStatementMaker } from '../../statement.ts'
import type { OpeningOptions, Store } from '../../store.ts'
import { type Announcements, followChanges, unannounced } from './announcements.ts'
import { postgresAudit } from './audit.ts'
import { postgresDialect } from './dialect.ts'
import { ABILITY_FUNCTIONS, abilitiesOf } from './engine.ts'
import { fromDriver, PASSING } from './failures.ts'
import { migrateDatabase, readFacts } from './migrations.ts'
import { clientConfig, openPool } from './pool.ts'
import { refuseTransactionPooling } from './pooling.ts'
import { tables } from './schema.ts'
import { createTransact } from './write.ts'

/**
 * The store on a PostgreSQL database, which any number of nodes may share. Migrates it first. Needs PostgreSQL 13 or
 * newer; on compatible servers without transaction
 * snapshots or `pg_xact_status` it works without them, and caches nothing. A
 * pooler that lends its connections by transaction is refused.
 */
export async function openPostgresStore(url: string, { admit }: OpeningOptions = {}): Promise<Store> {
  await refuseTransactionPooling(clientConfig(url))
  admit?.(await readFacts(url))
  await migrateDatabase(url)
  const pool = openPool(url)
  const listeners: ((change: StoreChange) => void)[] = []
  const tell = (change: StoreChange) => {
    for (const listener of listeners) listener(change)
  }
  let announcements: Announcements | undefined

  async function close(): Promise<void> {
    await announcements?.close()
    await pool.end()
  }

  try {
    const { hasSnapshots, tellsOutcome } = await retry(() => examine(pool), PASSING)
    announcements = hasSnapshots ? await followChanges(clientConfig(url), pool, tell) : unannounced()
    const transact = createTransact({ pool, announcements, tellsOutcome, tell })
    const dialect = new PgDialect()
    const run = createRunner()
    const nouns = createNouns(
      {
        tables,
        query: drizzle(pool) as unknown as Database['query'], // the calls that nouns make of it have the same form
        statement: createStatementMaker((query) => dialect.sqlToQuery(query)),
        read: (statement) => run(pool, statement),
        write: (audit, body) =>
          transact(audit, async (client, announce) => {
            const steps = body(announce)[Symbol.iterator]()
            let step = steps.next([])
            while (!step.done) step = steps.next(await run(client, step.value))
            return step.value
          }),
        writeRepeatable: (statement) => run(pool, statement),
        dialect: postgresDialect,
      },
      postgresAudit(transact, tell),
    )
    return {
      ...nouns,
      catchUp: announcements.missed,
      onChange: (listener) => void listeners.push(listener),
      figures: () => ({
        connections: {
          used: pool.totalCount - pool.idleCount,
          idle: pool.idleCount,
          waiting: pool.waitingCount,
        },
      }),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Finds out what the server can do. Refuses one that would lose acknowledged commits in a crash. */
async function examine(pool: pg.Pool) {
  const { rows } = await fromDriver(
    pool.query<{ version: string; functions: string[]; synchronous_commit: string }>(
      `select version() as version, current_setting('synchronous_commit') as synchronous_commit,
        array(select distinct proname::text from pg_proc where proname = any($1::text[])) as functions`,
      [ABILITY_FUNCTIONS],
    ),
  )
  const [
    { version, functions, synchronous_commit } = { version: '', functions: [], synchronous_commit: 'on' },
  ] = rows
  if (synchronous_commit === 'off')
    throw new BrokerError(
      'store_unavailable',
      'PostgreSQL has synchronous_commit off: a crash would lose refresh tokens that were just rotated. Set it to on for the database or user of Gatepass.',
    )
  return abilitiesOf(version, functions)
}

/** Runs statements, each of which a connection prepares once, under a name. */
function createRunner() {
  const names = new Map<string, string>()
  return async <Row>(
    on: pg.Pool | pg.PoolClient,
    { text, values, toRow }: BoundStatement<Row>,
  ): Promise<readonly Row[]> => {
    let name = names.get(text)
    if (name === undefined) {
      name = `statement_${names.size}`
      names.set(text, name)
    }
    const { rows } = await fromDriver(
      on.query<unknown[]>({ name, text, values: [...values], rowMode: 'array' }),
    )
    return rows.map(toRow) as Row[] // of this statement
  }
}
