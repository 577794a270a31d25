import type { EpochSeconds } from '../domain/clock.ts'
import type { WriteLastUse } from '../store/last-use.ts'
import { isStoreUnavailable } from '../store/retry.ts'
import type { Store } from '../store/store.ts'
import { createWriteBehind, type WriteBehind } from './write-behind.ts'

/**
 * `links`: opened links of authorizations. `connectionTools`: tools that use a connection, by `connectionToolKey`.
 */
type RowKind = 'connections' | 'connectionTools' | 'apiKeys' | 'secrets' | 'links'

/**
 * The last use of a row is written at most once in this time. A more exact time is not needed: it only shows which rows
 * have been unused for days.
 */
const WRITE_INTERVAL_SECONDS = 60
/** Rows of a batch where each part of a distributed database gets a statement of its own. */
const DISTRIBUTED_BATCH = 2_000
/** The most queued times. Some ids come from callers, such as those of users. */
const MAX_ROWS = 50_000

/** Whether a use is to be noted that may have been noted at `noted` already. */
export function isUseDue(noted: EpochSeconds | undefined, at: EpochSeconds): boolean {
  return noted === undefined || at >= noted + WRITE_INTERVAL_SECONDS || at < noted
}

/** Times of last use of rows, written in batches, so that a use costs no write. A crash may lose the last of them. */
export interface UseLog extends Omit<WriteBehind<EpochSeconds>, 'add'> {
  used(kind: RowKind, id: string, at: EpochSeconds): void
}

export function createUseLog(store: Store): UseLog {
  const batchRows = store.isDistributed ? DISTRIBUTED_BATCH : undefined
  const queues = {
    connections: createLastTimes((uses) => store.connections.used(uses), batchRows),
    connectionTools: createLastTimes((uses) => store.connectionTools.used(uses)),
    apiKeys: createLastTimes((uses) => store.apiKeys.used(uses)),
    secrets: createLastTimes((uses) => store.secrets.used(uses)),
    links: createLastTimes((uses) => store.authorizations.opened(uses), batchRows),
  }
  const sumOf = (figure: 'waiting' | 'dropped') =>
    Object.values(queues).reduce((sum, queue) => sum + queue[figure], 0)

  return {
    used: (kind, id, at) => queues[kind].add(id, at),
    async flush() {
      for (const queue of Object.values(queues)) await queue.flush()
    },
    get waiting() {
      return sumOf('waiting')
    },
    get dropped() {
      return sumOf('dropped')
    },
  }
}

/** A queue of times that writes each row at most once in `WRITE_INTERVAL_SECONDS`. */
export function createLastTimes(write: WriteLastUse, batchRows?: number): WriteBehind<EpochSeconds> {
  // when the current interval began, and the rows that were written in it
  let since = 0
  const written = new Set<string>()
  const queue = createWriteBehind<EpochSeconds>({
    maxRows: MAX_ROWS,
    ...(batchRows !== undefined && { batchRows }),
    async write(times) {
      for (const id of times.keys()) written.add(id)
      try {
        await write(times)
      } catch (error) {
        if (isStoreUnavailable(error)) for (const id of times.keys()) written.delete(id)
        throw error
      }
    },
  })
  const { add } = queue
  return Object.assign(queue, {
    add(id: string, at: EpochSeconds) {
      if (isUseDue(since, at) || written.size >= MAX_ROWS) {
        since = at
        written.clear()
      }
      if (!written.has(id)) add(id, at)
    },
  })
}
