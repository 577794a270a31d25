import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock, EpochSeconds } from '../domain/clock.ts'
import type { CounterName, Counters } from '../store/counters.ts'
import type { Users } from '../store/users.ts'

/** Rows in one commit: few enough that the commit does not delay requests. */
const BATCH = 200
/** The pause between two commits. */
const PAUSE_MS = 50
/** The interval in which a user is written at most once. */
const SEEN_SECONDS = 60
/**
 * While the database cannot be written, more users and counts than these are not recorded. User ids come from callers,
 * so the memory for them needs a limit.
 */
const MAX_USERS = 50_000
const MAX_COUNTS = 10_000
const HOUR = 3600

/**
 * Hourly counts, and when users were last seen, for the console. They are kept in memory and written in batches, so that
 * no request waits for a write. A crash may lose the last seconds, and a failed write loses its batch.
 */
export interface ActivityLog {
  /** Adds one. `label` is one of a closed list, such as outcomes or reasons. */
  count(projectId: string, name: CounterName, label: string): void
  seen(projectId: string, userId: string): void
  flush(): Promise<void>
}

export function createActivityLog(
  { counters, users }: { readonly counters: Counters; readonly users: Users },
  now: Clock,
): ActivityLog {
  /** Counts by project and name, separated by a space, which neither contains. */
  const counts = new Map<string, Map<string, number>>()
  /** Users by project, with the time at which each was last seen. */
  const seen = new Map<string, Map<string, EpochSeconds>>()
  let pendingUsers = 0
  let pendingCounts = 0
  /** When the current interval of `SEEN_SECONDS` began. */
  let intervalBegan = 0
  /** The users who were written, or are pending, in the current interval. */
  const known = new Set<string>()
  let flushing: Promise<void> | undefined

  async function writeCounts(): Promise<void> {
    const hour = now() - (now() % HOUR)
    while (counts.size > 0) {
      // sorted, so that two nodes lock the rows in the same order and cannot deadlock
      const batch = firstOf(counts).sort(([a], [b]) => (a < b ? -1 : 1))
      for (const [key, byLabel] of batch) {
        counts.delete(key)
        pendingCounts -= byLabel.size
      }
      await counters.add(
        hour,
        batch.map(([key, byLabel]) => {
          const [projectId = '', name = ''] = key.split(' ')
          return { projectId, name: name as CounterName, byLabel } // `count` made the key of a `CounterName`
        }),
      )
      if (counts.size > 0) await sleep(PAUSE_MS)
    }
  }

  async function writeUsers(): Promise<void> {
    for (const [projectId, times] of seen) {
      while (times.size > 0) {
        const batch = new Map(firstOf(times))
        for (const userId of batch.keys()) times.delete(userId)
        pendingUsers -= batch.size
        await users.seen(projectId, batch)
        if (times.size > 0) await sleep(PAUSE_MS)
      }
      seen.delete(projectId)
    }
  }

  return {
    count(projectId, name, label) {
      const key = `${projectId} ${name}`
      let byLabel = counts.get(key)
      if (byLabel === undefined) {
        byLabel = new Map()
        counts.set(key, byLabel)
      }
      const before = byLabel.get(label)
      if (before === undefined && pendingCounts++ >= MAX_COUNTS) {
        pendingCounts--
        return
      }
      byLabel.set(label, (before ?? 0) + 1)
    },
    seen(projectId, userId) {
      const at = now()
      if (at >= intervalBegan + SEEN_SECONDS || at < intervalBegan || known.size >= MAX_USERS) {
        intervalBegan = at
        known.clear()
      }
      const key = `${projectId} ${userId}`
      if (known.has(key) || pendingUsers >= MAX_USERS) return
      known.add(key)
      const times = seen.get(projectId) ?? new Map<string, EpochSeconds>()
      seen.set(projectId, times)
      if (!times.has(userId)) pendingUsers++
      times.set(userId, at)
    },
    flush() {
      flushing ??= writeCounts()
        .then(writeUsers)
        .finally(() => {
          flushing = undefined
        })
      return flushing
    },
  }
}

function firstOf<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  const first: [string, Value][] = []
  for (const entry of map) {
    if (first.length === BATCH) break
    first.push(entry)
  }
  return first
}
