import pg from 'pg'
import { BrokerError } from '../domain/errors.ts'
import { ownerBits } from '../domain/ids.ts'
import { databaseName } from '../store/database-place.ts'
import { forLog } from '../store/dialects/postgres/failures.ts'
import { migrateDatabase } from '../store/dialects/postgres/migrations.ts'
import { clientConfig } from '../store/dialects/postgres/pool.ts'
import {
  COPIED_TABLES,
  type CopiedColumn,
  type CopiedTable,
  type Fact,
  isOfThisRelease,
  keyOf,
  notEmpty,
  ofAnotherRelease,
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

/**
 * Opens one snapshot of the database. With `alone`, running servers are refused and no process can write until the source is
 * closed; without it, servers keep running. Throws `store_unavailable`.
 */
export async function openPostgresSource(
  url: string,
  { alone }: { readonly alone: boolean },
): Promise<RowSource> {
  const client = await connect(url)
  return endingOnFailure(url, client, async () => {
    if (alone) {
      await refuseOthers(client, url)
      await client.query('begin isolation level repeatable read')
      await client.query(`lock table ${TABLES} in exclusive mode`)
    } else await client.query('begin isolation level repeatable read read only')
    if (!isOfThisRelease(await tablesOf(client))) throw ofAnotherRelease(nameOf(url))
    return {
      read: reader(client),
      async finish(fact) {
        if (fact !== undefined) await putFact(client, fact)
        await client.query('commit')
      },
      [Symbol.asyncDispose]: () => client.end(),
    }
  })
}

/** Opens a database that has no rows, after bringing its tables up to date. Throws `store_unavailable`. */
export async function openPostgresTarget(
  url: string,
  options: { readonly partitions?: number | undefined } = {},
): Promise<RowTarget> {
  await migrateDatabase(url, options)
  const client = await connect(url)
  return endingOnFailure(url, client, async () => {
    await client.query('begin')
    await client.query(`lock table ${TABLES} in exclusive mode`)
    for (const { name } of COPIED_TABLES) {
      const { rowCount } = await client.query(`select 1 from ${name} limit 1`)
      if (rowCount !== 0) throw notEmpty(nameOf(url))
    }
    const partitioned = await partitionedTables(client)
    return {
      read: reader(client),
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

async function connect(url: string): Promise<pg.Client> {
  const unlimited = { statement_timeout: 0, query_timeout: 0, idle_in_transaction_session_timeout: 0 }
  const client = new pg.Client({ ...clientConfig(url), ...unlimited })
  client.on('error', () => {}) // the statement that is running fails with the same error
  try {
    await client.connect()
  } catch (error) {
    throw refusal(url, error)
  }
  return client
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

/** Refuses when servers are connected, which are known by their `application_name`. */
async function refuseOthers(client: pg.Client, url: string): Promise<void> {
  const { rowCount } = await client.query(
    `select 1 from pg_stat_activity
      where datname = current_database() and application_name = 'gatepass' and pid <> pg_backend_pid() limit 1`,
  )
  if (rowCount !== 0)
    throw new BrokerError(
      'store_unavailable',
      `Another Gatepass is connected to ${nameOf(url)}. Stop all servers and commands on it first.`,
    )
}

function reader(client: pg.Client): RowReader['read'] {
  return async (table: CopiedTable, after, limit) => {
    const columns = table.columns.map(({ name }) => name).join()
    // in byte order, like SQLite
    const key = table.key.map((name) => (isText(table, name) ? `${name} collate "C"` : name))
    const where =
      after === undefined ? '' : ` where (${key.join()}) > (${key.map((_, i) => `$${i + 2}`).join()})`
    const values = after === undefined ? [] : keyOf(table, after)
    const { rows } = await client.query<Record<string, unknown>>(
      `select ${columns} from ${table.name}${where} order by ${key.join()} limit $1`,
      [limit, ...values],
    )
    return rows.map((row) => toRow(table, row))
  }
}

const OWNER_BITS: CopiedColumn = { name: 'owner_bits', kind: 'text' }

/** The tables of a partitioned database that have the column `owner_bits`. */
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

function nameOf(url: string): string {
  return databaseName({ kind: 'postgres', url })
}

function refusal(url: string, error: unknown): unknown {
  if (error instanceof BrokerError) return error
  const why = forLog(error).message.replace(/\.$/, '')
  return new BrokerError('store_unavailable', `${nameOf(url)} cannot be used for this (${why}).`, {
    cause: error,
  })
}
