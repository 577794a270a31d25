import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { BrokerError } from '../../../domain/errors.ts'
import type { AuditEntries } from '../../audit-entries.ts'
import type { Announce, StoreChange } from '../../changes.ts'
import { isStoreUnavailable } from '../../retry.ts'
import type { Announcements } from './announcements.ts'
import { appendAudit } from './audit-chain.ts'
import { fromDriver, isConnectionFailure, RETRY_MS, RetryableError } from './failures.ts'

/** `Database.write` with a body that gets the connection of its transaction. */
export type Transact = <T>(
  audit: AuditEntries | undefined,
  body: (client: pg.PoolClient, announce: Announce) => Promise<T>,
) => Promise<T>

export interface WriterParts {
  readonly pool: pg.Pool
  readonly announcements: Pick<Announcements, 'append' | 'wake'>
  /** Whether the server can report the outcome of an earlier transaction (`pg_xact_status`). */
  readonly reportsOutcome: boolean
  readonly notify: (change: StoreChange) => void
}

export function createTransact({ pool, announcements, reportsOutcome, notify }: WriterParts): Transact {
  const idOfTransaction = reportsOutcome ? 'pg_current_xact_id_if_assigned()::text' : 'null::text'

  /** The transaction's id, or `null` when it has written nothing. */
  async function identify(client: pg.PoolClient): Promise<string | null> {
    if (!reportsOutcome) return null
    const { rows } = await fromDriver(
      client.query<{ id: string | null }>({ name: 'identify', text: `select ${idOfTransaction} as id` }),
    )
    return rows[0]?.id ?? null
  }

  /**
   * Throws when the transaction was not committed. If the connection is lost during the COMMIT, asks the server. Returns
   * whether the connection can still be used.
   */
  async function commit(client: pg.PoolClient, transactionId: string | null): Promise<boolean> {
    try {
      await fromDriver(client.query('commit'))
      return true
    } catch (error) {
      if (!isConnectionFailure(error)) throw error
      if (reportsOutcome && transactionId === null) throw error // nothing was written
      if (!(await wasCommitted(transactionId))) throw new RetryableError('the transaction was rolled back')
      return false
    }
  }

  async function wasCommitted(transactionId: string | null): Promise<boolean> {
    const end = performance.now() + RETRY_MS
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
      'The connection to the database was lost before it confirmed the write. Check whether it took effect before you try again.',
      { retryAfter: 5 },
    )
  }

  return async (audit, body) => {
    const client = await fromDriver(pool.connect())
    let isBroken = false
    try {
      const changes: StoreChange[] = []
      await fromDriver(client.query('begin'))
      const done = await body(client, (change) => void changes.push(change))
      const id = changes.length > 0 ? await announcements.append(client, changes) : null
      // the head of the audit chain is locked last, since all writers of a project wait for this lock
      if (audit !== undefined && done !== undefined && done !== false) await appendAudit(client, audit)
      isBroken = !(await commit(client, id ?? (await identify(client))))
      for (const change of changes) notify(change)
      if (changes.length > 0) announcements.wake()
      return done
    } catch (error) {
      isBroken ||= isLost(error) || !(await isRolledBack(client))
      throw error
    } finally {
      client.release(isBroken)
    }
  }
}

/** Whether the connection cannot be used any more. A body's own error, such as a refusal, leaves it intact. */
function isLost(error: unknown): boolean {
  return isConnectionFailure(error) || error instanceof RetryableError || isStoreUnavailable(error)
}

async function isRolledBack(client: pg.PoolClient): Promise<boolean> {
  return client.query('rollback').then(
    () => true,
    () => false,
  )
}
