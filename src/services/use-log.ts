import { setTimeout as sleep } from 'node:timers/promises'
import type { EpochSeconds } from '../domain/clock.ts'
import { isStoreUnavailable } from '../store/retry.ts'
import type { Store } from '../store/store.ts'

/**
 * `links`: opened links of authorizations. `connectionTools`: tools that use a connection, by `connectionToolKey`.
 */
type RowKind = 'connections' | 'connectionTools' | 'apiKeys' | 'secrets' | 'links'

/**
 * The last use of a row is written at most once in this time. A more exact time is not needed: it only shows which rows
 * have been unused for days.
 */
const WRITE_INTERVAL_SECONDS = 60
/** The most rows of one commit, so that a commit does not delay requests. */
const BATCH = 200
/** The pause between two commits. */
const PAUSE_MS = 50
/** The most pending uses of each kind of row. While the database cannot be written, further uses are not recorded. */
const MAX_PENDING = 50_000

/** Times of last use of rows, written in batches, so that a use costs no write. A crash may lose the last second. */
export interface UseLog {
  used(kind: RowKind, id: string, at: EpochSeconds): void
  /** Writes the queue. Rejects when the database cannot be written; while it is unavailable, the queue is kept. */
  flush(): Promise<void>
  /** The length of the queue. */
  readonly waiting: number
}

export function createUseLog(store: Store): UseLog {
  const logs = {
    connections: createUses(store.connections),
    connectionTools: createUses(store.connectionTools),
    apiKeys: createUses(store.apiKeys),
    secrets: createUses(store.secrets),
    links: createUses({ used: store.authorizations.opened }),
  }
  let flushing: Promise<void> | undefined

  async function write(): Promise<void> {
    for (const uses of Object.values(logs)) await uses.write()
  }

  return {
    used: (kind, id, at) => logs[kind].add(id, at),
    flush() {
      flushing ??= write().finally(() => {
        flushing = undefined
      })
      return flushing
    },
    get waiting() {
      return Object.values(logs).reduce((sum, uses) => sum + uses.waiting, 0)
    },
  }
}

function createUses(rows: { used(uses: ReadonlyMap<string, EpochSeconds>): Promise<void> }) {
  const pending = new Map<string, EpochSeconds>()
  // when the current interval began, and the rows that were written in it
  let since = 0
  const written = new Set<string>()

  function putBack(batch: ReadonlyMap<string, EpochSeconds>): void {
    for (const [id, at] of batch) {
      written.delete(id)
      if (!pending.has(id) && pending.size < MAX_PENDING) pending.set(id, at)
    }
  }

  return {
    add(id: string, at: EpochSeconds): void {
      if (at >= since + WRITE_INTERVAL_SECONDS || at < since) {
        since = at
        written.clear()
      }
      if (!written.has(id) && pending.size < MAX_PENDING) pending.set(id, at)
    },
    get waiting() {
      return pending.size
    },
    async write(): Promise<void> {
      while (pending.size > 0) {
        const batch = new Map<string, EpochSeconds>()
        for (const [id, at] of pending) {
          if (batch.size === BATCH) break
          batch.set(id, at)
          pending.delete(id)
          written.add(id)
        }
        try {
          await rows.used(batch)
        } catch (error) {
          // a batch that the database rejects is dropped: put back, it would hold up all others for ever
          if (isStoreUnavailable(error)) putBack(batch)
          throw error
        }
        if (pending.size > 0) await sleep(PAUSE_MS)
      }
    },
  }
}
