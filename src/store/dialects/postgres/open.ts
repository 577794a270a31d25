import { drizzle } from 'drizzle-orm/node-postgres'
import { PgDialect } from 'drizzle-orm/pg-core'
import type pg from 'pg'
import { BrokerError } from '../../../domain/errors.ts'
import type { StoreChange } from '../../changes.ts'
import { createNouns } from '../../create-nouns.ts'
import type { Database } from '../../database.ts'
import { createOwnerFinder, createPartitionedMaker, type OwnerFinder } from '../../partitions.ts'
import { retry } from '../../retry.ts'
import { type BoundStatement, createStatementMaker, type ToText } from '../../statement.ts'
import type { Loss, OpeningOptions, Store } from '../../store.ts'
import { allTables, storeParts } from '../../store-parts.ts'
import { type Announcements, followChanges, unannounced } from './announcements.ts'
import { postgresAudit } from './audit.ts'
import { createCommits, sweepCommits } from './commits.ts'
import { createConfirmations } from './confirmations.ts'
import { checkDistribution, differencesOf } from './distribution.ts'
import { findWeakCommit } from './durability.ts'
import { ABILITY_FUNCTIONS, abilitiesOf, engineOf } from './engine.ts'
import { fromDriver, POSTGRES_RETRIES } from './failures.ts'
import { migrateDatabase, readFacts } from './migrations.ts'
import { formIn, type OwnerForm } from './owner-tables.ts'
import { clientConfig, openPool, queryOnKept } from './pool.ts'
import { refuseTransactionPooling } from './pooling.ts'
import { ownerKit, postgresKit } from './schema.ts'
import { createSpace } from './space.ts'
import { createWorkers, type Workers } from './workers.ts'
import { createTransact } from './write.ts'

/**
 * Migrates a PostgreSQL database, which any number of nodes may share, and opens the store on it. Needs PostgreSQL 13
 * or newer. On a compatible server without transaction snapshots the store works without them, and caches nothing. A pooler in transaction mode is refused.
 */
export async function openPostgresStore(
  url: string,
  { admit, partitions, distribute, traceparent }: OpeningOptions = {},
): Promise<Store> {
  await refuseTransactionPooling(clientConfig(url))
  admit?.(await readFacts(url))
  await migrateDatabase(url, { partitions, distribute })
  const { pool, leaveOthers } = openPool(url)
  const listeners: ((change: StoreChange) => void)[] = []
  const notify = (change: StoreChange) => {
    for (const listener of listeners) listener(change)
  }
  const losses: ((loss: Loss) => void)[] = []
  const lost = (ms: number) => {
    for (const listener of losses) listener({ seconds: Math.ceil(ms / 1000) })
  }
  let announcements: Announcements | undefined

  async function close(): Promise<void> {
    await announcements?.close()
    await pool.end()
  }

  try {
    const { hasSnapshots, form } = await retry(() => examine(pool), POSTGRES_RETRIES)
    const isDistributed = form?.kind === 'distributed'
    const { opening, againAfterMs, dialect } = differencesOf(form)
    const commits = createCommits(pool, lost)
    void sweepCommits(pool).catch(() => {}) // the next start deletes them too
    announcements = hasSnapshots
      ? await followChanges(clientConfig(url), {
          pool,
          leaveOthers,
          commits,
          notify,
          againAfterMs,
          followsOwn: isDistributed,
        })
      : unannounced()
    const space = createSpace()
    const builder = new PgDialect()
    const toText: ToText = (query) => builder.sqlToQuery(query)
    const owners = form === undefined ? undefined : createOwnerFinder()
    // without snapshots it is another engine: all of its machines answer as one
    const workers = isDistributed && hasSnapshots ? createWorkers(pool) : undefined
    const confirmations = workers && createConfirmations(pool, workers, announcements)
    if (confirmations) listeners.push(confirmations.forget)
    const parts = { pool, announcements, commits, notify, notifyBefore: confirmations?.forget }
    const transact = space.watch(createTransact({ ...parts, opening }))
    const run = createRunner(pool, owners, workers)
    const nouns = createNouns(
      {
        tables: allTables(form === undefined ? postgresKit : ownerKit),
        query: drizzle(pool) as unknown as Database['query'], // the calls that nouns use have the same form
        statement: owners ? createPartitionedMaker(toText, owners) : createStatementMaker(toText),
        read: (statement) => run(pool, statement),
        write: (audit, body) =>
          transact(audit, async (client, announce) => {
            const steps = body(announce)[Symbol.iterator]()
            let hasWritten = false
            let step = steps.next([])
            while (!step.done) {
              const rows = await run(client, step.value)
              const { givesRows, text } = step.value
              hasWritten ||= !givesRows || (rows.length > 0 && !text.startsWith('select')) // `returning`
              step = steps.next(rows)
            }
            return { done: step.value, hasWritten }
          }),
        writeRepeatable: (statement) => run(pool, statement),
        dialect,
        isDistributed,
        traceparent,
        owners,
        parts: workers,
      },
      // its tables are all on the server that the pool is connected to
      postgresAudit(space.watch(createTransact(parts)), notify, {
        isPartitioned: form !== undefined,
        confirm: confirmations?.confirm,
      }),
      storeParts,
    )
    return {
      ...nouns,
      parts: storeParts,
      async probe() {
        await nouns.probe()
        await space.check()
      },
      catchUp: announcements.missed,
      onChange: (listener) => void listeners.push(listener),
      onLoss: (listener) => void losses.push(listener),
      ...(workers && { isDistributed: true as const, findSilentWorkers: workers.findSilent }),
      findWeakCommit: () => findWeakCommit(pool),
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

/** Finds out what the server can do. Refuses a server that would lose acknowledged commits in a crash. */
async function examine(pool: pg.Pool) {
  const { rows } = await fromDriver(
    pool.query<Examined>(
      `select version() as version, current_setting('synchronous_commit') as synchronous_commit,
        array(select distinct proname::text from pg_proc where proname = any($1::text[])) as functions,
        array(select hash from schema_migrations) as migrations`,
      [ABILITY_FUNCTIONS],
    ),
  )
  const [{ version, functions, synchronous_commit, migrations } = NO_ANSWER] = rows
  if (synchronous_commit === 'off')
    throw new BrokerError(
      'store_unavailable',
      'PostgreSQL has synchronous_commit off: a crash would lose refresh tokens that were just rotated. Set it to on for the database or user of Gatepass.',
    )
  const form = formIn(migrations)
  if (isOnCitus(form, version))
    await checkDistribution(
      async (text, values = []) => (await fromDriver(pool.query(text, [...values]))).rows,
    )
  return { ...abilitiesOf(version, functions), form }
}

/** Whether Citus has placed the tables. */
function isOnCitus(form: OwnerForm | undefined, version: string): boolean {
  return form?.kind === 'distributed' && form.count > 0 && engineOf(version) === 'postgresql'
}

interface Examined {
  readonly version: string
  readonly functions: readonly string[]
  readonly synchronous_commit: string
  readonly migrations: readonly string[]
}

const NO_ANSWER: Examined = { version: '', functions: [], synchronous_commit: 'on', migrations: [] }

/** Runs statements. Each has a name, under which a connection prepares it once. */
function createRunner(pool: pg.Pool, owners?: OwnerFinder, workers?: Workers) {
  const names = new Map<string, string>()
  return async <Row>(
    on: pg.Pool | pg.PoolClient,
    { text, values, toRow, ownerBits }: BoundStatement<Row>,
  ): Promise<readonly Row[]> => {
    let name = names.get(text)
    if (name === undefined) {
      name = `statement_${names.size}`
      names.set(text, name)
    }
    const query = { name, text, values: [...values], rowMode: 'array' as const }
    const send = () =>
      workers !== undefined && on === pool
        ? queryOnKept<unknown[]>(pool, query)
        : fromDriver(on.query<unknown[]>(query))
    const { rows } = await (workers === undefined ? send() : workers.watch(ownerBits, send))
    const found = rows.map(toRow) as Row[] // of this statement
    if (owners !== undefined) for (const row of found) owners.remember(row)
    return found
  }
}
