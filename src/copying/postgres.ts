import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { BrokerError } from '../domain/errors.ts'
import { ownerBits } from '../domain/ids.ts'
import { databaseName } from '../store/database-location.ts'
import { forLog } from '../store/dialects/postgres/failures.ts'
import { type FormOptions, migrateDatabase } from '../store/dialects/postgres/migrations.ts'
import { isFormMark } from '../store/dialects/postgres/owner-tables.ts'
import { clientConfig } from '../store/dialects/postgres/pool.ts'
import {
  COPIED_TABLES,
  type CopiedColumn,
  type CopiedTable,
  type Fact,
  isOfThisRelease,
  notEmpty,
  ofAnotherRelease,
  PAGE,
  type Row,
  type RowReader,
  type RowSource,
  type RowTarget,
  toRow,
} from './copy-rows.ts'

const TABLES = COPIED_TABLES.map(({ name }) => name).join(', ')
const ARRAYS = { text: 'text[]', whole: 'bigint[]', flag: 'boolean[]' } as const satisfies Record<
  CopiedColumn['kind'],
  string
>

/** Tables that a server reads at its start (`facts`) or every second (the others). */
const READ_BY_SERVERS = 'facts, changes, processes'
/** How long a server has to wait for one of them before `refuseOthers` sees it: twice the interval of its reads. */
const WATCH_MS = 2_000

/**
 * How long a lock is waited for. A database that is named as source and as target under two spellings of its URL would
 * otherwise wait for itself without end.
 */
const LOCK_WAIT_MS = 5_000

/**
 * Opens one snapshot of the database. With `alone`, running servers are refused, and until the source is closed no process
 * can write, and one that starts waits, so that it finds the mark of a move. Without it, servers keep running. Throws
 * `store_unavailable`.
 */
export async function openPostgresSource(
  url: string,
  { alone }: { readonly alone: boolean },
): Promise<RowSource> {
  const client = await connect(url)
  return endingOnFailure(url, client, async () => {
    if (alone) {
      await refuseOthers(client, url) // at once, so that their requests need not wait for the locks
      await client.query('begin isolation level repeatable read')
      await lock(client, TABLES, 'exclusive')
      await lock(client, READ_BY_SERVERS, 'access exclusive')
    } else await client.query('begin isolation level repeatable read read only')
    if (!isOfThisRelease('postgres', await migrationsDone(client), await tablesOf(client)))
      throw ofAnotherRelease(nameOf(url))
    if (alone) {
      await pause(WATCH_MS)
      await refuseOthers(client, url)
    }
    return {
      pages: reader(client),
      async finish(fact) {
        if (fact !== undefined) await putFact(client, fact)
        await client.query('commit')
      },
      [Symbol.asyncDispose]: () => client.end(),
    }
  })
}

/** Opens a database that has no rows, after bringing its tables up to date. Throws `store_unavailable`. */
export async function openPostgresTarget(url: string, options: FormOptions = {}): Promise<RowTarget> {
  await migrateDatabase(url, options)
  const client = await connect(url)
  return endingOnFailure(url, client, async () => {
    await client.query('begin')
    await lock(client, TABLES, 'exclusive')
    for (const { name } of COPIED_TABLES) {
      const { rowCount } = await client.query(`select 1 from ${name} limit 1`)
      if (rowCount !== 0) throw notEmpty(nameOf(url))
    }
    const partitioned = await partitionedTables(client)
    return {
      pages: reader(client),
      async insert(table, rows) {
        const { name } = table
        const columns = partitioned.has(name) ? [...table.columns, OWNER_BITS] : table.columns
        const names = columns.map((column) => column.name).join()
        const arrays = columns.map(({ kind }, i) => `$${i + 1}::${ARRAYS[kind]}`).join()
        const values = columns.map((column, i) =>
          rows.map((row) => (column === OWNER_BITS ? ownerBitsIn(table, row) : row[i])),
        )
        await client
          .query(`insert into ${name} (${names}) select * from unnest(${arrays})`, values)
          .catch((error: unknown) => {
            throw refusal(url, error)
          })
      },
      async commit(fact) {
        if (fact !== undefined) await putFact(client, fact)
        await client.query(
          `insert into audit_heads (project_id, last_seq, hash)
            select distinct on (project_id) project_id, first_seq + count - 1, hash
            from audit_blocks order by project_id, first_seq desc`,
        )
        await client.query('commit')
      },
      [Symbol.asyncDispose]: () => client.end(), // what was not committed is rolled back
    }
  })
}

/** Lifts the time limits of the session, also those that the role or the database sets. Older servers lack the last one. */
const UNLIMITED = `select set_config(name, '0', false) from pg_settings
  where name in ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ ...clientConfig(url), query_timeout: 0 })
  client.on('error', () => {}) // the statement that is running fails with the same error
  return endingOnFailure(url, client, async () => {
    await client.connect()
    await client.query(UNLIMITED)
    return client
  })
}

/** Opens something on the client's connection, which is ended if that fails. */
async function endingOnFailure<T>(url: string, client: pg.Client, open: () => Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (error) {
    await client.end()
    throw refusal(url, error)
  }
}

/** Locks tables until the end of the transaction. */
async function lock(
  client: pg.Client,
  tables: string,
  mode: 'exclusive' | 'access exclusive',
): Promise<void> {
  await client.query(`set local lock_timeout = ${LOCK_WAIT_MS}`)
  await client.query(`lock table ${tables} in ${mode} mode`)
}

/**
 * Refuses when other processes use the database: those that have the `application_name` of Gatepass, which a URL can
 * override, and those that wait for a lock of this connection.
 */
async function refuseOthers(client: pg.Client, url: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct coalesce(nullif(application_name, ''), 'unknown') as name from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and (application_name like 'gatepass%' or pg_backend_pid() = any(pg_blocking_pids(pid)))
      order by name`,
  )
  if (rows.length > 0)
    throw new BrokerError(
      'store_unavailable',
      `Other processes use ${nameOf(url)} (application_name: ${rows.map(({ name }) => name).join(', ')}). Stop all servers and commands on it first.`,
    )
}

function reader(client: pg.Client): RowReader['pages'] {
  return async function* (table) {
    const columns = table.columns.map(({ name }) => name).join()
    // in byte order, like SQLite. Indexes may have another order: for a cursor, PostgreSQL sorts the table once
    const key = table.key.map((name) => (isText(table, name) ? `${name} collate "C"` : name)).join()
    await client.query(
      `declare copied no scroll cursor for select ${columns} from ${table.name} order by ${key}`,
    )
    for (let isEnd = false; !isEnd; ) {
      const { rows } = await client.query<Record<string, unknown>>(`fetch ${PAGE} from copied`)
      isEnd = rows.length < PAGE
      yield rows.map((row) => toRow(table, row))
    }
    await client.query('close copied')
  }
}

const OWNER_BITS: CopiedColumn = { name: 'owner_bits', kind: 'text' }

/** The tables that have the column `owner_bits`. */
async function partitionedTables(client: pg.Client): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ name: string }>(
    `select table_name as name from information_schema.columns
      where table_schema = current_schema() and column_name = '${OWNER_BITS.name}'`,
  )
  return new Set(rows.map(({ name }) => name))
}

function ownerBitsIn({ columns }: CopiedTable, row: Row): string {
  const text = (name: string) => String(row[columns.findIndex((column) => column.name === name)])
  return ownerBits(text('project_id'), text('user_id'))
}

function isText({ columns }: CopiedTable, name: string): boolean {
  return columns.some((column) => column.name === name && column.kind === 'text')
}

/** The hashes of the migrations that the database has had. */
async function migrationsDone(client: pg.Client): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ hash: string }>('select hash from schema_migrations')
  return new Set(rows.map(({ hash }) => hash).filter((hash) => !isFormMark(hash)))
}

async function tablesOf(client: pg.Client): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `select table_name as name, array_agg(column_name::text) as columns from information_schema.columns
      where table_schema = current_schema() and column_name <> '${OWNER_BITS.name}' group by 1`,
  )
  // other programs may have tables of their own in the same schema
  const ours = new Set(COPIED_TABLES.map(({ name }) => name))
  return new Map(rows.filter(({ name }) => ours.has(name)).map(({ name, columns }) => [name, columns]))
}

async function putFact(client: pg.Client, { name, value }: Fact): Promise<void> {
  await client.query(
    'insert into facts (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value',
    [name, value],
  )
}

/** SQLSTATEs: a table does not exist, as in the database of an older release; a lock was not granted in time. */
const [UNDEFINED_TABLE, LOCK_NOT_AVAILABLE] = ['42P01', '55P03']

function nameOf(url: string): string {
  return databaseName({ kind: 'postgres', url })
}

function refusal(url: string, error: unknown): unknown {
  if (error instanceof BrokerError) return error
  const state = error instanceof pg.DatabaseError ? error.code : undefined
  if (state === UNDEFINED_TABLE) return ofAnotherRelease(nameOf(url))
  if (state === LOCK_NOT_AVAILABLE)
    return new BrokerError(
      'store_unavailable',
      `Another process has locked tables of ${nameOf(url)}. Stop all servers and commands on it first; the source cannot be the target too.`,
      { cause: error },
    )
  const why = forLog(error).message.replace(/\.$/, '')
  return new BrokerError('store_unavailable', `${nameOf(url)} cannot be used for this (${why}).`, {
    cause: error,
  })
}
