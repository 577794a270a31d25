import { setTimeout as sleep } from 'node:timers/promises'
import { BrokerError } from '../domain/errors.ts'
import { isStoreUnavailable } from '../store/retry.ts'

/** Rows in one commit: few enough that the commit does not delay requests. */
const BATCH = 200
/** The pause between two commits. */
const PAUSE_MS = 50

/** A queue of rows that are written in batches, so that no request waits for the write. A crash loses the queue. */
export interface WriteBehind<Row> {
  /** Queues a row. Replaces a queued row with the same key, or is merged with it. Drops the oldest when there are too many. */
  add(key: string, row: Row): void
  /**
   * Writes the queue. Rejects when the database is unavailable, and keeps the queue for the next flush; also, at the
   * end, when the database rejected rows, which are dropped so that they do not hold up the others.
   */
  flush(): Promise<void>
  /** The length of the queue. */
  readonly waiting: number
  /** How many rows were never written. */
  readonly dropped: number
}

export interface WriteBehindOptions<Row> {
  /** Writes a batch. Throws `already_exists` for a row that an earlier write, whose outcome was lost, has stored. */
  readonly write: (batch: ReadonlyMap<string, Row>) => Promise<void>
  readonly maxRows: number
  /** The row that stays of two with one key. By default the one that was added last. */
  readonly merge?: (queued: Row, added: Row) => Row
  readonly sizeOf?: (row: Row) => number
  /** The most that the sizes of the queued rows may add up to. */
  readonly maxSize?: number
  /** The most rows of one batch. By default `BATCH`. */
  readonly batchRows?: number
  /** Whether a batch may be written again when it is unknown if it was committed. Otherwise it is dropped. */
  readonly isRepeatable?: boolean
}

export function createWriteBehind<Row>({
  write,
  maxRows,
  merge = (_, added) => added,
  sizeOf = () => 0,
  maxSize = Infinity,
  batchRows = BATCH,
  isRepeatable = true,
}: WriteBehindOptions<Row>): WriteBehind<Row> {
  let pending = new Map<string, Row>()
  let size = 0
  let dropped = 0
  let flushing: Promise<void> | undefined

  function add(key: string, row: Row): void {
    const queued = pending.get(key)
    const merged = queued === undefined ? row : merge(queued, row)
    size += sizeOf(merged) - (queued === undefined ? 0 : sizeOf(queued))
    pending.set(key, merged)
    for (const [oldest, dropping] of pending) {
      if (pending.size <= maxRows && size <= maxSize) return
      pending.delete(oldest)
      size -= sizeOf(dropping)
      dropped++
    }
  }

  function take(): ReadonlyMap<string, Row> {
    const batch = new Map<string, Row>()
    for (const [key, row] of pending) {
      if (batch.size === batchRows) break
      batch.set(key, row)
      pending.delete(key)
      size -= sizeOf(row)
    }
    return batch
  }

  /** Puts a batch back before the rows that were added since. */
  function giveBack(batch: ReadonlyMap<string, Row>): void {
    if (!isRepeatable) {
      dropped += batch.size
      return
    }
    const later = pending
    pending = new Map()
    size = 0
    for (const rows of [batch, later]) for (const [key, row] of rows) add(key, row)
  }

  async function writeAll(): Promise<void> {
    while (pending.size > 0) {
      const batch = take()
      try {
        await write(batch)
      } catch (error) {
        if (!isStoreUnavailable(error)) await writeEach(batch)
        else {
          giveBack(batch)
          throw error
        }
      }
      if (pending.size > 0) await sleep(PAUSE_MS)
    }
  }

  /** Writes the rows one by one, past those that the database rejects. Throws the first rejection at the end. */
  async function writeEach(batch: ReadonlyMap<string, Row>): Promise<void> {
    const left = new Map(batch)
    const rejections: unknown[] = []
    for (const [key, row] of batch) {
      try {
        await write(new Map([[key, row]]))
      } catch (error) {
        if (isStoreUnavailable(error)) {
          giveBack(left)
          throw error
        }
        if (!isStored(error)) {
          dropped++
          rejections.push(error)
        }
      }
      left.delete(key)
    }
    if (rejections.length > 0) throw rejections[0]
  }

  return {
    add,
    flush() {
      flushing ??= writeAll().finally(() => {
        flushing = undefined
      })
      return flushing
    },
    get waiting() {
      return pending.size
    },
    get dropped() {
      return dropped
    },
  }
}

function isStored(error: unknown): boolean {
  return error instanceof BrokerError && error.code === 'already_exists'
}
