import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { BrokerError } from '../../domain/errors.ts'
import type { AuditEntries, StoreChange } from '../store.ts'
import { CHANNEL } from './announcements.ts'
import { appendAudit } from './audit.ts'
import { asked, isConnectionFailure, NotDone, PATIENCE_MS } from './failures.ts'

/** Of one node. PostgreSQL's own limit is 100 by default; each node has one more connection, which listens. */
const POOL_SIZE = 10
const CONNECT_TIMEOUT_MS = 5_000
const STATEMENT_TIMEOUT_MS = 10_000

/** The clock of leases is the database's, so that those of the nodes need not agree. */
export const databaseNow = sql<number>`floor(extract(epoch from clock_timestamp()))::bigint`

/** A pooled connection within a transaction. */
export type Transaction = NodePgDatabase & { readonly $client: pg.ClientBase }

/** What each noun's file is given. */
export interface PostgresContext {
  /** For reading: each statement by itself, on any connection of the pool. */
  readonly db: NodePgDatabase
  /**
   * Writes in one transaction, together with what it leaves in the audit trail and what it announces: to this process
   * when it is committed, to other nodes by NOTIFY. A body that answers `undefined` or `false` has done nothing, so
   * nothing is recorded of it. Throws when nothing was written, or `store_unavailable` when that cannot be known. The
   * body may run again.
   */
  readonly write: <T>(
    audit: AuditEntries | undefined,
    body: (tx: Transaction, announce: (change: StoreChange) => void) => Promise<T>,
  ) => Promise<T>
  /** Tells the listeners of this process alone. */
  readonly tell: (change: StoreChange) => void
}

/** What every connection is opened with. Members of the URL's query, such as `sslmode`, go before. */
export function clientConfig(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'gatepass',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    // for a connection that died without a word: past the server's own limit nothing comes any more
    query_timeout: STATEMENT_TIMEOUT_MS + 2_000,
    keepAlive: true,
  }
}

/** A pool that survives restarts of the server: what fails is the call, never the process. */
export function openPool(url: string): pg.Pool {
  const pool = new pg.Pool({ ...clientConfig(url), max: POOL_SIZE })
  pool.on('error', () => {}) // an idle connection was lost: the pool has dropped it
  pool.on('connect', (client) => client.on('error', () => {})) // the statement under way fails, and that is enough
  return pool
}

export interface WriterParts {
  readonly pool: pg.Pool
  /** Whether the server has NOTIFY, and what it is sent of a change. */
  readonly announces: boolean
  readonly payloadOf: (change: StoreChange) => string
  /** Whether the server can say later what became of a transaction. */
  readonly tellsOutcome: boolean
  readonly tell: (change: StoreChange) => void
}

export function createWrite({
  pool,
  announces,
  payloadOf,
  tellsOutcome,
  tell,
}: WriterParts): PostgresContext['write'] {
  const transactions = new WeakMap<pg.PoolClient, Transaction>()

  function transactionOn(client: pg.PoolClient): Transaction {
    const known = transactions.get(client)
    if (known !== undefined) return known
    const made = drizzle(client)
    transactions.set(client, made)
    return made
  }

  const idOfTransaction = tellsOutcome ? 'pg_current_xact_id_if_assigned()::text' : 'null::text'

  /** Sends the announcements, and answers the transaction's id: they come of something that was written. */
  async function announce(client: pg.PoolClient, changes: readonly StoreChange[]): Promise<string | null> {
    if (!announces) return identify(client)
    const { rows } = await asked(
      client.query<{ id: string | null }>({
        name: 'announce',
        text: `select ${idOfTransaction} as id,
          (select count(pg_notify($1, payload)) from unnest($2::text[]) as payload) as sent`,
        values: [CHANNEL, changes.map(payloadOf)],
      }),
    )
    return rows[0]?.id ?? null
  }

  /** The transaction's id, which there is when anything was written. */
  async function identify(client: pg.PoolClient): Promise<string | null> {
    if (!tellsOutcome) return null
    const { rows } = await asked(
      client.query<{ id: string | null }>({ name: 'identify', text: `select ${idOfTransaction} as id` }),
    )
    return rows[0]?.id ?? null
  }

  /** Throws when it was not committed. A connection that is lost over it leaves that open: then the server is asked. */
  async function commit(client: pg.PoolClient, transactionId: string | null): Promise<void> {
    try {
      await asked(client.query('commit'))
    } catch (error) {
      if (!isConnectionFailure(error)) throw error
      if (tellsOutcome && transactionId === null) throw error // nothing was written
      if (!(await wasCommitted(transactionId))) throw new NotDone('the transaction was rolled back')
    }
  }

  async function wasCommitted(transactionId: string | null): Promise<boolean> {
    const end = performance.now() + PATIENCE_MS
    while (transactionId !== null && performance.now() < end) {
      try {
        const { rows } = await pool.query<{ status: string | null }>(
          'select pg_xact_status($1::xid8) as status',
          [transactionId],
        )
        const status = rows[0]?.status
        if (status === 'committed') return true
        if (status === 'aborted') return false
        if (status !== 'in progress') break
      } catch (error) {
        if (error instanceof pg.DatabaseError && !isConnectionFailure(error)) break
      }
      await sleep(50)
    }
    throw new BrokerError(
      'store_unavailable',
      'The connection to the database was lost before it said whether the write was kept. Look, then try again.',
      { retryAfter: 5 },
    )
  }

  return async (audit, body) => {
    const client = await asked(pool.connect())
    let isBroken = false
    try {
      const tx = transactionOn(client)
      const changes: StoreChange[] = []
      await asked(client.query('begin'))
      const done = await body(tx, (change) => void changes.push(change))
      const id = changes.length > 0 ? await announce(client, changes) : null
      // the head of the audit chain is locked last, since all writers of a project meet there
      if (audit !== undefined && done !== undefined && done !== false) await appendAudit(client, audit)
      await commit(client, id ?? (await identify(client)))
      for (const change of changes) tell(change)
      return done
    } catch (error) {
      isBroken = isLost(error) || !(await isRolledBack(client))
      throw error
    } finally {
      client.release(isBroken)
    }
  }
}

/** Then nothing more can be said on that connection. */
function isLost(error: unknown): boolean {
  return isConnectionFailure(error) || error instanceof NotDone || error instanceof BrokerError
}

async function isRolledBack(client: pg.PoolClient): Promise<boolean> {
  return client.query('rollback').then(
    () => true,
    () => false,
  )
}
