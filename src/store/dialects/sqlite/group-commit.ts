import type Database from 'better-sqlite3'
import { unavailable } from '../../retry.ts'
import type { WriteAheadLog } from './write-ahead-log.ts'

/** The most writes per commit, and for how many milliseconds they may run before it. Both block the event loop. */
const MOST_WRITES = 128
const LONGEST_MS = 4
/** The most writes that may wait for their commit. Further ones are refused. */
const MOST_WAITING = 20_000

/** A write of one caller: its statements, its audit entries and its entries of the change feed. */
export interface Write<T> {
  /** Runs in a transaction, and again in another one when SQLite has rolled back the first because of another write. */
  readonly body: () => T
  /** Called in the tick of the commit, before the promise resolves. */
  readonly committed: () => void
}

/**
 * Group commit: writes that arrive in one turn of the event loop, or while the disk is being written, share a transaction,
 * in their order of arrival. Each promise resolves when the commit is on the disk. A write that throws is rolled back to
 * its savepoint, and only its own promise rejects. When a commit fails, all promises of its group reject.
 */
export interface GroupCommit {
  /** Queues the write. Rejects with `store_unavailable` while too many wait. */
  add<T>(write: Write<T>): Promise<T>
  /**
   * Commits the write in this tick, together with the waiting writes, if one commit has room for all of them and the disk
   * is not being written.
   */
  addNow<T>(write: Write<T>): Promise<T>
  /** Stops commits until the returned function is called. */
  pause(): () => void
  /** Commits all waiting writes, before the database is closed. */
  finish(): Promise<void>
}

interface Waiting extends Write<unknown> {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** A write that was run, with its result. */
interface Done {
  readonly waiting: Waiting
  readonly result: unknown
}

/** A write that was run, or the error for which it was rolled back. */
type Ran = Done | { readonly waiting: Waiting; readonly error: unknown }

/** `onDisk` is called after commits were written to the disk. */
export function createGroupCommit(
  client: Database.Database,
  log: WriteAheadLog,
  onDisk: () => void,
): GroupCommit {
  const begin = client.prepare('begin immediate')
  const commit = client.prepare('commit')
  const rollback = client.prepare('rollback')
  const savepoint = client.prepare('savepoint one_write')
  const release = client.prepare('release one_write')
  const rollbackToSavepoint = client.prepare('rollback to one_write')
  let queue: Waiting[] = []
  let isScheduled = false
  let isRunning = false
  let isPaused = false
  /** Commits that are not on the disk yet. */
  let inFlight = 0
  /** How many writes at the head of the queue get a commit each, because SQLite rolled back their shared transaction. */
  let alone = 0

  function enqueue<T>(write: Write<T>): Promise<T> {
    if (queue.length >= MOST_WAITING)
      return Promise.reject(unavailable(new Error('too many writes wait for their commit')))
    return new Promise<T>((resolve, reject) => {
      queue.push({ ...write, resolve: (result) => resolve(result as T), reject }) // of this write's body
    })
  }

  function schedule(): void {
    if (isScheduled || !isDue()) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      if (isDue()) commitGroup()
      schedule()
    })
  }

  /** While the disk is being written, a commit would have to wait for the next sync anyway, so its group may grow. */
  function isDue(): boolean {
    return !isPaused && queue.length > 0 && (inFlight === 0 || queue.length >= MOST_WRITES)
  }

  function commitGroup(): void {
    // a write that a listener makes waits for the next group
    if (queue.length === 0 || isRunning) return
    isRunning = true
    try {
      const committed: Done[] = []
      for (const ran of runGroup()) {
        if ('error' in ran) ran.waiting.reject(ran.error)
        else if (announced(ran)) committed.push(ran)
      }
      if (committed.length > 0) void resolveOnDisk(committed)
    } finally {
      isRunning = false
    }
  }

  async function resolveOnDisk(committed: readonly Done[]): Promise<void> {
    inFlight++
    try {
      await log.sync()
      for (const { waiting, result } of committed) waiting.resolve(result)
      onDisk()
    } catch (error) {
      for (const { waiting } of committed) waiting.reject(error)
    } finally {
      inFlight--
      schedule()
    }
  }

  /** Runs and commits the writes at the head of the queue. Returns those that need not run again. */
  function runGroup(): readonly Ran[] {
    try {
      begin.run()
    } catch (error) {
      undo('everything')
      // another process is writing, or the disk has failed: each caller decides whether to retry
      return queue.splice(0).map((waiting) => ({ waiting, error }))
    }
    const most = Math.min(alone > 0 ? 1 : MOST_WRITES, queue.length)
    alone = Math.max(0, alone - 1)
    const ran = most === 1 ? [runOnly(queue[0] as Waiting)] : runTogether(queue.slice(0, most)) // `queue` is not empty
    queue = queue.slice(ran.length)
    if (!client.inTransaction) {
      // SQLite has rolled back the whole transaction: the writes without an error run again
      const again = ran.flatMap((done) => ('error' in done ? [] : [done.waiting]))
      queue = [...again, ...queue]
      alone += again.length
      return ran.filter((done) => 'error' in done)
    }
    try {
      commit.run()
      return ran
    } catch (error) {
      undo('everything')
      return ran.map((done) => ('error' in done ? done : { waiting: done.waiting, error }))
    }
  }

  function runOnly(waiting: Waiting): Ran {
    try {
      return { waiting, result: waiting.body() }
    } catch (error) {
      undo('everything')
      return { waiting, error }
    }
  }

  /** Runs the writes, each with a savepoint, for at most `LONGEST_MS`. */
  function runTogether(group: readonly Waiting[]): readonly Ran[] {
    const until = performance.now() + LONGEST_MS
    const ran: Ran[] = []
    for (const waiting of group) {
      if (ran.length > 0 && performance.now() >= until) break
      try {
        savepoint.run()
        const result = waiting.body()
        release.run()
        ran.push({ waiting, result })
      } catch (error) {
        ran.push({ waiting, error })
        undo('to the savepoint')
        // SQLite rolls back the whole transaction when a statement runs out of disk space or memory
        if (!client.inTransaction) break
      }
    }
    return ran
  }

  /** After an error, `inTransaction` tells whether SQLite has rolled back already. */
  function undo(what: 'to the savepoint' | 'everything'): void {
    try {
      if (!client.inTransaction) return
      if (what === 'everything') rollback.run()
      else {
        rollbackToSavepoint.run()
        release.run()
      }
    } catch {
      if (what === 'to the savepoint') undo('everything')
    }
  }

  return {
    add(write) {
      const written = enqueue(write)
      schedule()
      return written
    },
    addNow(write) {
      const written = enqueue(write)
      if (!isPaused && inFlight === 0) commitGroup()
      schedule()
      return written
    },
    pause() {
      isPaused = true
      return () => {
        isPaused = false
        schedule()
      }
    },
    async finish() {
      while (queue.length > 0 || inFlight > 0) {
        commitGroup()
        await log.sync().catch(() => undefined) // `resolveOnDisk` has rejected the writes
      }
    },
  }
}

/** Calls the listeners of a committed write. If one throws, the write's promise rejects. */
function announced({ waiting }: Done): boolean {
  try {
    waiting.committed()
    return true
  } catch (error) {
    waiting.reject(error)
    return false
  }
}
