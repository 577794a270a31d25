import pg from 'pg'
import { fromDriver, isUnusable, RetryableError } from './failures.ts'

/** Connections of one node; one more listens for changes. PostgreSQL accepts 100 connections by default. */
const POOL_SIZE = 10
const CONNECT_TIMEOUT_MS = 5_000
const STATEMENT_TIMEOUT_MS = 10_000

/** The settings of every connection. Members of the URL's query, such as `sslmode`, take precedence. */
export function clientConfig(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'gatepass',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    // the client's own limit, for a connection that died without a FIN
    query_timeout: STATEMENT_TIMEOUT_MS + 2_000,
    keepAlive: true,
  }
}

export interface ServerPool {
  readonly pool: pg.Pool
  /**
   * Closes the open connections that lead to another server than the named one (`nameOfServer`). What runs on one fails as
   * if its server had closed it.
   */
  leaveOthers(server: string | undefined): void
}

/** A pool that survives restarts of the server: a lost connection fails its call, but does not end the process. */
export function openPool(url: string): ServerPool {
  /** The open connections, and which server each leads to. */
  const open = new Map<pg.PoolClient, string | undefined>()
  async function examine(client: pg.PoolClient): Promise<void> {
    await refuseReadOnly(client)
    open.set(client, await nameOfServer(client))
  }
  const verify = (client: pg.PoolClient, done: (error?: Error) => void) =>
    void examine(client).then(() => done(), done)
  const pool = new pg.Pool({ ...clientConfig(url), max: POOL_SIZE, verify })
  pool.on('error', () => {}) // an idle connection was lost, and the pool has removed it
  pool.on('connect', (client) => {
    client.on('error', () => {}) // the statement that is running fails with the same error
    open.set(client, undefined)
  })
  pool.on('remove', (client) => open.delete(client))
  return {
    pool,
    leaveOthers(server) {
      for (const [{ connection }, name] of open) if (name !== server) connection.stream.destroy()
    },
  }
}

/**
 * Throws when the server takes no writes: it is a standby in recovery, where what was revoked may still be valid. An
 * address may lead to one during a failover. A server does not become a standby while a connection is open.
 */
export async function refuseReadOnly(client: pg.ClientBase): Promise<void> {
  const { rows } = await fromDriver(
    client.query<{ transaction_read_only: string }>({
      name: 'takes_writes',
      text: 'show transaction_read_only',
    }),
  )
  if (rows[0]?.transaction_read_only === 'on')
    throw new RetryableError('the server takes no writes: it is a standby in recovery, or set to read-only')
}

/**
 * Returns what names the server: a standby that has taken over, and one that was started again, has another name.
 * `undefined`: the server does not say.
 */
export async function nameOfServer(client: pg.ClientBase): Promise<string | undefined> {
  try {
    const { rows } = await client.query<{ name: string }>({
      name: 'name_of_server',
      text: "select concat_ws(' ', inet_server_addr(), inet_server_port(), pg_postmaster_start_time()) as name",
    })
    return rows[0]?.name
  } catch (error) {
    if (error instanceof pg.DatabaseError) return undefined // a compatible server without these functions
    throw error
  }
}

/**
 * Sends a statement on a connection of the pool, which stays open when a worker of Citus has failed the statement. `pool.query`
 * closes it after every error, and while a worker is stopped the coordinator would do little but open new ones.
 */
export async function queryOnKept<Row>(
  pool: pg.Pool,
  query: pg.QueryConfig,
): Promise<pg.QueryResult<Row & {}>> {
  const client = await fromDriver(pool.connect())
  try {
    const result = await fromDriver(client.query<Row & {}>(query))
    client.release()
    return result
  } catch (error) {
    client.release(isUnusable(error))
    throw error
  }
}
