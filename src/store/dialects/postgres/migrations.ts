import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import pg from 'pg'
import { BrokerError } from '../../../domain/errors.ts'
import { databaseName } from '../../database-location.ts'
import { migrationsAfter, refuseNewer } from '../../migrations.ts'
import { retry } from '../../retry.ts'
import type { OpeningOptions } from '../../store.ts'
import { buildIndexes, repeatable } from './build-indexes.ts'
import { distributeTables } from './distribution.ts'
import { forLog, fromDriver, POSTGRES_RETRIES, RetryableError } from './failures.ts'
import { alreadyInUse, formIn, isFormMark, markOf, type OwnerForm, type Query } from './owner-tables.ts'
import { partitionTables } from './partitioning.ts'
import { clientConfig, refuseReadOnly } from './pool.ts'

/** "gatepass" in ASCII: the key of the only advisory lock that Gatepass takes. */
const MIGRATION_LOCK = '7449355626537022323'
/** How long a migration may take, and how long another node waits for it. */
const LONGEST_MIGRATION_MS = 10 * 60_000

/** How often a waiting node tries to take the lock. */
const LOCK_POLL_MS = 200

/** SQLSTATEs of a race with another node's migration, on a database whose advisory locks have no effect. */
const RACED = ['42P07', '42710', '23505', '40001']

/** How many migrations the database still needs. Writes nothing. */
export async function pendingMigrations(url: string): Promise<number> {
  return connected(url, async (query) => migrationsAfter('postgres', await migrationsDone(query)).length)
}

/** Whether Gatepass has ever been started on the database. */
export async function isBegun(url: string): Promise<boolean> {
  return connected(url, async (query) => (await migrationsDone(query)).size > 0)
}

/** The facts of the database; none when it has no tables yet. Writes nothing. */
export async function readFacts(url: string): Promise<ReadonlyMap<string, string>> {
  return connected(url, async (query) => {
    const [table] = await query("select to_regclass('facts')::text as name")
    if (table?.name === null) return new Map()
    const rows = await query('select name, value from facts')
    return new Map(rows.map(({ name, value }) => [String(name), String(value)]))
  })
}

/**
 * Migrates the schema. Several nodes may start at once: one migrates while the others wait. A database that a newer
 * release has migrated is refused.
 *
 * `partitions`, `distribute`: the form that the tables of an empty database get. A database that is not empty and has
 * another form is refused with `already_exists`.
 */
export async function migrateDatabase(url: string, options: FormOptions = {}): Promise<void> {
  const wanted = wantedForm(options)
  await connected(url, async (query) => {
    await lockMigrations(query)
    const before = await migrationsDone(query)
    if (before.size > 0)
      await buildIndexes(
        query,
        migrationsAfter('postgres', before).flatMap(({ sql }) => sql.map((statement) => statement.trim())),
      )
    await query('begin')
    await query(
      'create table if not exists schema_migrations (hash text primary key, created_at bigint not null)',
    )
    const done = await migrationsDone(query)
    refuseNewer(
      'postgres',
      [...done].filter((hash) => !isFormMark(hash)),
    )
    const isNew = done.size === 0
    const existing = formIn(done)
    if (wanted !== undefined && !isNew && !isDeepStrictEqual(existing, wanted))
      throw alreadyInUse(databaseName({ kind: 'postgres', url }), existing, wanted)
    for (const { hash, sql, folderMillis } of migrationsAfter('postgres', done)) {
      await query(sql.map((statement) => repeatable(statement.trim())).join('\n')).catch((error: unknown) => {
        throw existing?.kind === 'distributed' ? refusedByWorkers(error) : error
      })
      await query('insert into schema_migrations values ($1, $2)', [hash, folderMillis])
    }
    if (wanted !== undefined && isNew) {
      await (wanted.kind === 'partitions' ? partitionTables : distributeTables)(query, wanted.count)
      await query('insert into schema_migrations values ($1, 0)', [markOf(wanted)])
    }
    await query('commit')
  })
}

/** The form that an empty database gets: see `OpeningOptions`. */
export type FormOptions = Pick<OpeningOptions, 'partitions' | 'distribute'>

function wantedForm({ partitions, distribute }: FormOptions): OwnerForm | undefined {
  if (partitions !== undefined) return { kind: 'partitions', count: partitions }
  return distribute === undefined ? undefined : { kind: 'distributed', count: distribute }
}

/**
 * Takes the lock by polling. A session that waits for an advisory lock has a snapshot, and a concurrent build of an index
 * waits for all older snapshots, so the two would block each other.
 */
async function lockMigrations(query: Query): Promise<void> {
  for (const until = performance.now() + LONGEST_MIGRATION_MS; ; await pause(LOCK_POLL_MS)) {
    const [row] = await query('select pg_try_advisory_lock($1::bigint) as locked', [MIGRATION_LOCK])
    if (row?.locked === true) return
    if (performance.now() > until) throw new RetryableError('another node has been migrating for ten minutes')
  }
}

async function migrationsDone(query: Query): Promise<ReadonlySet<string>> {
  const [table] = await query("select to_regclass('schema_migrations')::text as name")
  if (table?.name === null) return new Set()
  const rows = await query('select hash from schema_migrations')
  return new Set(rows.map(({ hash }) => String(hash)))
}

/** Calls `run` with a connection of its own. Closing it releases the lock and rolls back an open transaction. */
async function connected<T>(url: string, run: (query: Query) => Promise<T>): Promise<T> {
  try {
    return await retry(async () => {
      const client = new pg.Client({
        ...clientConfig(url),
        statement_timeout: LONGEST_MIGRATION_MS,
        query_timeout: LONGEST_MIGRATION_MS + 2_000,
      })
      client.on('error', () => {}) // the statement that is running fails with the same error
      try {
        await fromDriver(client.connect())
        await refuseReadOnly(client)
        return await run(
          async (text, values = []) => (await fromDriver(client.query(text, [...values]))).rows,
        )
      } catch (error) {
        if (error instanceof pg.DatabaseError && RACED.includes(error.code ?? ''))
          throw new RetryableError(error.message, { cause: error })
        throw error
      } finally {
        await client.end().catch(() => {})
      }
    }, POSTGRES_RETRIES)
  } catch (error) {
    throw error instanceof BrokerError && error.cause !== undefined ? cannotOpen(url, error.cause) : error
  }
}

/** The error of a migration on distributed tables: Citus does not have all of PostgreSQL's, and needs every worker for it. */
function refusedByWorkers(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError) || RACED.includes(error.code ?? '')) return error
  const why = forLog(error).message.replace(/\.$/, '')
  return new BrokerError(
    'store_unavailable',
    `A migration of this release failed on the distributed tables (${why}), and nothing of it was kept. It needs the answer of every worker.`,
  )
}

/** The error when the host or database is unknown or the password is wrong. Only the operator sees the message. */
function cannotOpen(url: string, cause: unknown): BrokerError {
  const why = forLog(cause).message.replace(/\.$/, '')
  return new BrokerError(
    'store_unavailable',
    `The database ${databaseName({ kind: 'postgres', url })} cannot be opened (${why}). Check GATEPASS_DATABASE_URL, and that the server runs and lets this user in.`,
    { cause },
  )
}
