import { setTimeout as sleep } from 'node:timers/promises'
import { BrokerError } from '../domain/errors.ts'
import type { ExecutionRecord } from '../domain/execution.ts'
import { isStoreUnavailable } from '../store/retry.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from './metrics.ts'

/** Runs in one commit: few enough that the commit does not delay requests. */
const BATCH = 200
/** The pause between two commits. */
const PAUSE_MS = 50
/** While the database cannot be written, the oldest runs beyond either limit are dropped. */
const MAX_PENDING = 20_000
const MAX_PENDING_CHARACTERS = 64 * 1024 * 1024

/** The history of tool runs, written in batches, so that a run costs no write of its own. */
export interface ExecutionLog {
  /** Queues a run that has ended. */
  record(record: ExecutionRecord): void
  /**
   * Writes the queue. A crash may lose the runs of the last second. Throws when a run could not be written: the run is
   * dropped if the database rejects it, and stays queued if the database is unavailable.
   */
  flush(): Promise<void>
  /** The length of the queue. */
  readonly waiting: number
}

export function createExecutionLog(
  { executions }: Pick<Store, 'executions'>,
  metrics: Metrics,
): ExecutionLog {
  const pending: ExecutionRecord[] = []
  let characters = 0
  let dropped = 0
  let flushing: Promise<void> | undefined
  metrics.counted(
    'gatepass_executions_dropped_total',
    'Runs that are not in the history, because they could not be written in time',
    () => dropped,
  )

  function dropOldest(): void {
    while (pending.length > MAX_PENDING || characters > MAX_PENDING_CHARACTERS) {
      const oldest = pending.shift()
      if (oldest === undefined) return
      characters -= sizeOf(oldest)
      dropped++
    }
  }

  function take(): readonly ExecutionRecord[] {
    const batch = pending.splice(0, BATCH)
    for (const one of batch) characters -= sizeOf(one)
    return batch
  }

  function putBack(batch: readonly ExecutionRecord[]): void {
    pending.unshift(...batch)
    for (const one of batch) characters += sizeOf(one)
    dropOldest()
  }

  async function write(): Promise<void> {
    while (pending.length > 0) {
      const batch = take()
      try {
        await executions.add(batch)
      } catch (error) {
        if (!isStoreUnavailable(error)) await writeEach(batch)
        else {
          putBack(batch)
          throw error
        }
      }
      if (pending.length > 0) await sleep(PAUSE_MS)
    }
  }

  /**
   * Writes the runs one by one. Skips those that the database rejects, and those that it already has from an earlier
   * attempt whose outcome was lost. Throws the first rejection at the end.
   */
  async function writeEach(batch: readonly ExecutionRecord[]): Promise<void> {
    const rejections: unknown[] = []
    for (const [i, one] of batch.entries()) {
      try {
        await executions.add([one])
      } catch (error) {
        if (isStoreUnavailable(error)) {
          putBack(batch.slice(i))
          throw error
        }
        if (isKnown(error)) continue
        dropped++
        rejections.push(error)
      }
    }
    if (rejections.length > 0) throw rejections[0]
  }

  return {
    record(record) {
      pending.push(record)
      characters += sizeOf(record)
      dropOldest()
    },
    flush() {
      flushing ??= write().finally(() => {
        flushing = undefined
      })
      return flushing
    },
    get waiting() {
      return pending.length
    },
  }
}

function sizeOf({ request, result }: ExecutionRecord): number {
  return (request?.length ?? 0) + (result?.length ?? 0)
}

function isKnown(error: unknown): boolean {
  return error instanceof BrokerError && error.code === 'already_exists'
}
