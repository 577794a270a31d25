import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { BrokerError } from '../../../domain/errors.ts'
import { retry } from '../../retry.ts'
import { createBeginnings } from './beginnings.ts'
import { confirmed, fromDriver, POSTGRES_RETRIES, RETRY_MS } from './failures.ts'

/**
 * The rows by which a transaction proves that it was committed. Each transaction first writes its number into a row of
 * its process, in a slot that no other transaction of the process uses meanwhile. If the answer to its COMMIT is lost,
 * this row alone tells what happened. Transaction ids of the server cannot: a promoted replica, and a server that starts
 * again after a crash, may give out an id a second time.
 *
 * The numbers only grow, and the process remembers those that were committed. So it notices a server that has lost some
 * of them, such as an asynchronous replica that was promoted.
 */
export interface Commits {
  /** Names this process in its rows. */
  readonly writer: string
  /** The highest number whose commit was acknowledged. */
  readonly newest: number
  /** How many times the database was found to have lost commits. */
  readonly losses: number
  /** Begins a transaction, which writes its number. `opening`: the SQL with which it begins. */
  begin(client: pg.ClientBase, opening?: string): Promise<OwnTransaction>
  /**
   * Whether the transaction whose COMMIT was not answered, or with a warning, was committed; a "no" is final. The question
   * is a write on the same row. So it waits until the transaction has ended on its server, which may be waiting for its replica; a replica
   * in recovery refuses it; and once it is committed itself, what it has read survives wherever the commit survives.
   * Throws `store_unavailable` when this cannot be found out.
   */
  wasCommitted(transaction: OwnTransaction): Promise<boolean>
  /** The transaction has ended on the server, so its slot is free. Without this call the slot is never used again. */
  ended(transaction: OwnTransaction, how: 'committed' | 'rolled back'): void
  /** Writes a number without a transaction of a request, unless one was begun a moment ago. */
  mark(): Promise<void>
  /** Who sees this number of the process sees all commits from before this time (`performance.now()`). */
  begunAt(number: number): number
  /** Asks the server for writes whether it still has the commits of this process. Returns whether it has lost some. */
  checkLoss(): Promise<boolean>
}

export interface OwnTransaction {
  readonly slot: number
  readonly number: number
}

/** The slot of numbers that are written without a transaction of a request. */
const MARKS = -1
/** A commit that was begun this recently needs no mark beside it. */
const RECENT_MS = 200
/** For how long rows of processes that have ended are kept. A living process writes some row every few seconds. */
const KEPT_SECONDS = 30 * 24 * 60 * 60

const NOW = 'extract(epoch from clock_timestamp())::bigint'
const ASK = `insert into commits (writer, slot, number, at) values ($1, $2, 0, ${NOW})
  on conflict (writer, slot) do update set at = excluded.at returning number`
// all rows of a process or none: a slot that a living process has long not used still proves its commit
const SWEEP = `delete from commits where (writer, slot) in (
  select writer, slot from commits one where not exists (
    select 1 from commits other where other.writer = one.writer and other.at >= ${NOW} - ${KEPT_SECONDS})
  for update skip locked)`
/**
 * Write number $3 of process $1 into slot $2, the next one only where the row still has $4, which was committed there
 * last. A number never replaces a newer one, since a network may deliver the statement after the process has given up its
 * connection.
 */
const PUT_FIRST = `insert into commits (writer, slot, number, at) values ($1, $2, $3, ${NOW})
  on conflict (writer, slot) do update set number = excluded.number, at = excluded.at
  where commits.number < excluded.number`
const PUT_NEXT = `update commits set number = $3, at = ${NOW}
  where writer = $1 and slot = $2 and number between $4 and $3`
/** $1 names the process. */
export const NEWEST_COMMIT = 'select coalesce(max(number), 0) as number from commits where writer = $1'
const ROWS = 'select slot, number from commits where writer = $1'

/** `lost` is called when the database has lost commits, all of them newer than `ms` milliseconds. */
export function createCommits(pool: pg.Pool, lost: (ms: number) => void): Commits {
  const writer = randomUUID()
  const beginnings = createBeginnings()
  const free: number[] = []
  /** By slot, the number whose commit was acknowledged last. */
  let acknowledged = new Map<number, number>()
  let slots = 0
  let newest = 0
  let losses = 0
  let marking: Promise<void> | undefined

  async function ask({ slot, number }: OwnTransaction, untilMs: number): Promise<boolean> {
    const query = {
      text: ASK,
      values: [writer, slot],
      query_timeout: Math.max(1, untilMs - performance.now()),
    }
    const client = await fromDriver(pool.connect())
    try {
      const { rows } = await confirmed(client, () => client.query<{ number: string }>(query))
      client.release()
      return Number(rows[0]?.number) === number
    } catch (error) {
      client.release(true)
      throw error
    }
  }

  /** By slot, the number of the last commit that the server has. */
  async function rowsOn(on: pg.Pool | pg.ClientBase): Promise<Map<number, number>> {
    const query = { name: 'own_commits', text: ROWS, values: [writer] }
    const { rows } = await fromDriver(on.query<{ slot: number; number: string }>(query))
    return new Map(rows.map(({ slot, number }) => [slot, Number(number)]))
  }

  /**
   * The newest number before all that are lost, or undefined where none of `known` is. Transactions of after the loss have
   * higher numbers in other slots, so the newest number alone would hide it.
   */
  function keptBefore(known: ReadonlyMap<number, number>, onServer: ReadonlyMap<number, number>) {
    const lost = [...known].filter(([slot, number]) => (onServer.get(slot) ?? 0) < number)
    if (lost.length === 0) return
    const oldest = Math.min(...lost.map(([, number]) => number))
    return Math.max(0, ...[...onServer.values()].filter((number) => number < oldest))
  }

  function loseAfter(kept: number): void {
    losses++
    newest = kept
    acknowledged = new Map()
    lost(performance.now() - beginnings.at(kept))
  }

  function acknowledge({ slot, number }: OwnTransaction): void {
    acknowledged.set(slot, number)
    newest = Math.max(newest, number)
  }

  /** `PUT_FIRST` or `PUT_NEXT`, as a prepared statement. */
  function prepared({ slot, number }: OwnTransaction): pg.QueryConfig {
    const known = acknowledged.get(slot)
    return known === undefined
      ? { name: 'put_first_commit', text: PUT_FIRST, values: [writer, slot, number] }
      : { name: 'put_next_commit', text: PUT_NEXT, values: [writer, slot, number, known] }
  }

  /** The same as text, because several statements that are sent at once have no parameters. */
  function put(transaction: OwnTransaction): string {
    const { text, values = [] } = prepared(transaction)
    // the values are this process's own: a UUID and numbers
    return text.replaceAll(/\$(\d)/g, (_, place) => `'${values[place - 1]}'`)
  }

  async function checkLoss(): Promise<boolean> {
    const [known, before] = [new Map(acknowledged), losses]
    const kept = keptBefore(known, await rowsOn(pool))
    if (kept === undefined || losses !== before) return false
    loseAfter(kept)
    return true
  }

  async function mark(): Promise<void> {
    if (beginnings.sinceLast() < RECENT_MS) return
    const own = { slot: MARKS, number: beginnings.next() }
    const { rowCount } = await fromDriver(pool.query(prepared(own)))
    if (rowCount === 1) acknowledge(own)
    else await checkLoss()
  }

  return {
    writer,
    get newest() {
      return newest
    },
    get losses() {
      return losses
    },
    async begin(client, opening = 'begin') {
      const before = losses
      const begun = { slot: free.pop() ?? slots++, number: beginnings.next() }
      const answers = await fromDriver(client.query(`${opening}; ${put(begun)}`)) // one round trip
      if (rowsOf(answers) === 0) {
        const known = new Map(acknowledged)
        const kept = keptBefore(known, await rowsOn(client))
        // another transaction may have noticed the same loss
        if (losses === before && kept !== undefined) loseAfter(kept)
        await fromDriver(client.query(put(begun)))
      }
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
    ended(transaction, how) {
      if (how === 'committed') acknowledge(transaction)
      free.push(transaction.slot)
    },
    mark() {
      // one at a time, so that the numbers of the row only grow
      marking ??= mark().finally(() => {
        marking = undefined
      })
      return marking
    },
    begunAt: beginnings.at,
    checkLoss,
  }
}

/** How many rows the last of several statements has written: the driver answers them as a list. */
function rowsOf(answers: unknown): number | undefined {
  return (answers as readonly pg.QueryResult[]).at(-1)?.rowCount ?? undefined
}

/** Deletes rows that no transaction will ask about any more. */
export async function sweepCommits(pool: pg.Pool): Promise<void> {
  await fromDriver(pool.query({ name: 'sweep_commits', text: SWEEP }))
}
