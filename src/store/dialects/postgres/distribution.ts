import { setTimeout as pause } from 'node:timers/promises'
import { type SQL, sql } from 'drizzle-orm'
import { BrokerError } from '../../../domain/errors.ts'
import type { Dialect } from '../../database.ts'
import { postgresDialect } from './dialect.ts'
import { engineOf } from './engine.ts'
import { addOwnerBits, OWNER_TABLES, type OwnerForm, type Query } from './owner-tables.ts'

// What differs from plain PostgreSQL on a database that was created with `gatepass migrate --distribute`. Connections and
// authorizations are divided by `owner_bits` over the machines (workers) of a distributed engine, without foreign keys.
// All other tables stay on the machine that Gatepass connects to, the coordinator of Citus.

/** Citus refuses volatile functions in an UPDATE. After a wait for a lock this time is older, so leases end earlier. */
const seconds = sql<number>`floor(extract(epoch from statement_timestamp()))::bigint`
const milliseconds = sql<number>`floor(extract(epoch from statement_timestamp()) * 1000)::bigint`

export interface Differences {
  /** The SQL by which a transaction begins. */
  readonly opening: string
  readonly dialect: Dialect
  /** How many milliseconds after a read of the table of changes the other nodes are notified of them once more. */
  readonly againAfterMs: number | undefined
}

const PLAIN: Differences = { opening: 'begin', dialect: postgresDialect, againAfterMs: undefined }

/**
 * `opening`: Citus commits a worker before the coordinator when only one worker was written, so a crash in between would
 * keep the change of a connection and lose its audit entry. A write of a table that Citus manages on the coordinator makes
 * it commit in two phases. `two_phase` is this table, and it is always empty: the statement takes 0.06 ms (2026-11-29).
 */
const DISTRIBUTED = {
  opening: 'begin; delete from two_phase',
  dialect: {
    ...postgresDialect,
    leaseNow: (): SQL<number> => seconds,
    leaseNowMs: milliseconds,
    sharedNow: (): SQL<number> => seconds,
    nowMs: milliseconds,
  },
} satisfies Omit<Differences, 'againAfterMs'>

/** Citus commits on the coordinator first, so a read in the moment until the commit on the worker finds the former row. */
const AGAIN_AFTER_MS = 200

export function differencesOf(form: OwnerForm | undefined): Differences {
  if (form?.kind !== 'distributed') return PLAIN
  // without an engine there is one commit
  return { ...DISTRIBUTED, againAfterMs: form.count > 0 ? AGAIN_AFTER_MS : undefined }
}

/**
 * Brings the plain tables, which are empty, into the distributed form. `shards`: into how many parts Citus divides each of
 * the two tables; 0: the tables get the form, but no engine is asked to place them. Throws `invalid_request` when the
 * database is not one of Citus.
 */
export async function distributeTables(query: Query, shards: number): Promise<void> {
  const [server] = await query('select version() as version')
  const engine = engineOf(String(server?.version))
  if (engine === 'postgresql' && shards > 0) await refuseWithoutCitus(query)
  for (const table of OWNER_TABLES) {
    await addOwnerBits(query, table, { partitioned: false })
    if (engine !== 'postgresql') await putOwnerFirst(query, table)
  }
  await query('create table two_phase (nothing boolean)')
  if (engine !== 'postgresql' || shards === 0) return
  const [first, ...others] = OWNER_TABLES
  const distribute =
    "select create_distributed_table($1, 'owner_bits', shard_count => $2, colocate_with => $3)"
  await query(distribute, [first, shards, 'none'])
  for (const table of others)
    await query("select create_distributed_table($1, 'owner_bits', colocate_with => $2)", [table, first])
  await query("select citus_add_local_table_to_metadata('two_phase')")
}

/**
 * CockroachDB and YugabyteDB place rows by the first column of the primary key. Ids of older releases do not contain the
 * owner, so they need an index of their own. By the documentation of both engines; not tried.
 */
async function putOwnerFirst(query: Query, table: string): Promise<void> {
  await query(
    `alter table ${table} drop constraint ${table}_pkey, add constraint ${table}_pkey primary key (owner_bits, id)`,
  )
  await query(`create index ${table}_by_id on ${table} (id)`)
}

async function refuseWithoutCitus(query: Query): Promise<void> {
  const [extension] = await query("select from pg_extension where extname = 'citus'")
  if (extension === undefined)
    throw notReady(
      'The database has no extension citus. --distribute is for a database of Citus: run `create extension citus` in it on the coordinator and on each worker, and add the workers with citus_add_node.',
    )
  const [nodes] = await query(
    `select coalesce(bool_or(groupid = 0), false) as has_coordinator,
      count(*) filter (where isactive and shouldhaveshards and noderole = 'primary') as workers from pg_dist_node`,
  )
  if (nodes?.has_coordinator !== true)
    throw notReady(
      'The coordinator of Citus does not know its own address. Run: select citus_set_coordinator_host(<host>).',
    )
  if (Number(nodes.workers) === 0)
    throw notReady('Citus has no worker that takes shards. Add workers with citus_add_node first.')
}

/** How long the start waits for Citus's maintenance daemon, which starts with the first connection to the database. */
const DAEMON_TRIES = 50
const DAEMON_POLL_MS = 200

/**
 * Throws `store_unavailable` when Citus does not keep the promises of the distributed form: the tables are not placed as
 * `distributeTables` has placed them, a worker cannot prepare transactions, or nothing would finish a transaction that was
 * prepared on a worker which then failed. A worker that does not answer is passed over, so that the users of the others can be served.
 */
export async function checkDistribution(query: Query): Promise<void> {
  const placed = await query(
    `select logicalrelid::text as table, partmethod::text as method, colocationid as group,
        case when partkey is not null then column_to_column_name(logicalrelid, partkey) end as column
      from pg_dist_partition
      where logicalrelid = any(array(select to_regclass(name) from unnest($1::text[]) as name))`,
    [[...OWNER_TABLES, 'two_phase']],
  )
  const owned = placed.filter(({ method, column }) => method === 'h' && column === 'owner_bits')
  const isManaged = placed.some(({ table, method }) => table === 'two_phase' && method === 'n')
  const groups = new Set(owned.map(({ group }) => group))
  if (owned.length !== OWNER_TABLES.length || groups.size !== 1 || !isManaged)
    throw refusal(
      'Citus does not have the tables as `gatepass migrate --distribute` has placed them: connections and authorizations distributed by owner_bits and colocated, two_phase managed on the coordinator.',
    )
  const settings = await query(
    "select nodename, result from run_command_on_workers('show max_prepared_transactions') where success",
  ).catch(() => []) // the statement's time has passed while a worker did not answer
  const without = settings.filter(({ result }) => Number(result) === 0)
  if (without.length > 0)
    throw refusal(
      `The worker ${without[0]?.nodename} has max_prepared_transactions 0, so no transaction can be committed in two phases. Set it to at least max_connections on each worker.`,
    )
  for (let tries = 1; !(await hasDaemon(query)); tries++) {
    if (tries === DAEMON_TRIES)
      throw refusal(
        "Citus's maintenance daemon does not run for this database, or the user may not see it (grant pg_read_all_stats). Without it, a transaction that was prepared on a failed worker is never finished. Set max_worker_processes on the coordinator above the number of its databases.",
      )
    await pause(DAEMON_POLL_MS)
  }
}

async function hasDaemon(query: Query): Promise<boolean> {
  const rows = await query(
    `select from pg_stat_activity where datname = current_database() and application_name = 'Citus Maintenance Daemon'`,
  )
  return rows.length > 0
}

function refusal(message: string): BrokerError {
  return new BrokerError('store_unavailable', message)
}

function notReady(message: string): BrokerError {
  return new BrokerError('invalid_request', message)
}
