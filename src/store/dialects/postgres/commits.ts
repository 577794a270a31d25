import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { BrokerError } from '../../../domain/errors.ts'
import { retry } from '../../retry.ts'
import { fromDriver, POSTGRES_RETRIES, RETRY_MS } from './failures.ts'

/**
 * The rows by which a transaction proves that it was committed. Each transaction first writes its number into a row of
 * its process, in a slot that no other transaction of the process uses meanwhile. If the answer to its COMMIT is lost,
 * this row alone tells what happened. Transaction ids of the server cannot: a promoted replica, and a server that starts
 * again after a crash, may give out an id a second time.
 */
export interface Commits {
  /** Begins a transaction, which writes its number. */
  begin(client: pg.ClientBase): Promise<OwnTransaction>
  /**
   * Whether the transaction whose COMMIT was not answered was committed; a "no" is final. The question is a write on the
   * same row. So it waits until the transaction has ended on its server, which may be waiting for its replica; a replica
   * in recovery refuses it; and once it is committed itself, what it has read survives wherever the commit survives.
   * Throws `store_unavailable` when this cannot be found out.
   */
  wasCommitted(transaction: OwnTransaction): Promise<boolean>
  /** The transaction has ended on the server, so its slot is free. Without this call the slot is never used again. */
  ended(transaction: OwnTransaction): void
}

export interface OwnTransaction {
  readonly slot: number
  readonly number: number
}

/** For how long rows of processes that have ended are kept. */
const KEPT_SECONDS = 7 * 24 * 60 * 60

const NOW = 'extract(epoch from clock_timestamp())::bigint'
const ASK = `insert into commits (writer, slot, number, at) values ($1, $2, 0, ${NOW})
  on conflict (writer, slot) do update set at = excluded.at returning number`
const SWEEP = `delete from commits where (writer, slot) in (
  select writer, slot from commits where at < ${NOW} - ${KEPT_SECONDS} for update skip locked)`

export function createCommits(pool: pg.Pool, writer: string = randomUUID()): Commits {
  const free: number[] = []
  let slots = 0
  let last = 0

  async function ask({ slot, number }: OwnTransaction, untilMs: number): Promise<boolean> {
    const query = {
      text: ASK,
      values: [writer, slot],
      query_timeout: Math.max(1, untilMs - performance.now()),
    }
    const { rows } = await fromDriver(pool.query<{ number: string }>(query))
    return Number(rows[0]?.number) === number
  }

  return {
    async begin(client) {
      const begun = { slot: free.pop() ?? slots++, number: ++last }
      // in one round trip; the values are this process's own
      await fromDriver(
        client.query(
          `begin; insert into commits (writer, slot, number, at)
            values ('${writer}', ${begun.slot}, ${begun.number}, ${NOW})
            on conflict (writer, slot) do update set number = excluded.number, at = excluded.at`,
        ),
      )
      return begun
    },
    wasCommitted(transaction) {
      const untilMs = performance.now() + RETRY_MS
      return retry(() => ask(transaction, untilMs), {
        ...POSTGRES_RETRIES,
        toFailure: (cause) =>
          new BrokerError(
            'store_unavailable',
            'The connection to the database was lost before it confirmed the write. Check whether it took effect before you try again.',
            { cause, retryAfter: 5 },
          ),
      })
    },
    ended: ({ slot }) => void free.push(slot),
  }
}

/** Deletes rows that no transaction will ask about any more. */
export async function sweepCommits(pool: pg.Pool): Promise<void> {
  await fromDriver(pool.query(SWEEP))
}
