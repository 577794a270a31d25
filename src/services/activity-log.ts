import type { Clock, EpochSeconds } from '../domain/clock.ts'
import type { CounterName, Counters, HourCounts } from '../store/counters.ts'
import type { Users } from '../store/users.ts'
import { createLastTimes } from './use-log.ts'
import { createWriteBehind } from './write-behind.ts'

const MAX_COUNTS = 10_000
const HOUR = 3600

/**
 * Hourly counts, and when users were last seen, for the console. They are kept in memory and written in batches, so that
 * no request waits for a write. A crash may lose the last seconds, and a failed write loses its counts.
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
  // keys are a project, a name and a label, or a project and a user, separated by spaces; projects and names have none
  const counts = createWriteBehind<number>({
    write: (batch) => counters.add(now() - (now() % HOUR), countsByName(batch)),
    maxRows: MAX_COUNTS,
    merge: (queued, added) => queued + added,
    isRepeatable: false, // it would be counted twice
  })
  const lastSeen = createLastTimes(async (batch) => {
    for (const [projectId, times] of timesByProject(batch)) {
      const added = await users.seen(projectId, times)
      if (added > 0) counts.add(`${projectId} users new`, added)
    }
  })

  return {
    count: (projectId, name, label) => counts.add(`${projectId} ${name} ${label}`, 1),
    seen: (projectId, userId) => lastSeen.add(`${projectId} ${userId}`, now()),
    async flush() {
      // writing the users counts those that are new
      await lastSeen.flush().finally(() => counts.flush())
    },
  }
}

function countsByName(batch: ReadonlyMap<string, number>): readonly HourCounts[] {
  // sorted, so that two nodes lock the rows in the same order and cannot deadlock
  const sorted = [...batch].sort(([a], [b]) => (a < b ? -1 : 1))
  const byName = new Map<string, HourCounts & { readonly byLabel: Map<string, number> }>()
  for (const [key, count] of sorted) {
    const [projectId = '', name = '', ...label] = key.split(' ')
    const of = `${projectId} ${name}`
    // `count` made the key of a `CounterName`
    const counts = byName.get(of) ?? { projectId, name: name as CounterName, byLabel: new Map() }
    byName.set(of, counts)
    counts.byLabel.set(label.join(' '), count)
  }
  return [...byName.values()]
}

function timesByProject(
  batch: ReadonlyMap<string, EpochSeconds>,
): ReadonlyMap<string, ReadonlyMap<string, EpochSeconds>> {
  const byProject = new Map<string, Map<string, EpochSeconds>>()
  for (const [key, at] of batch) {
    const end = key.indexOf(' ')
    const projectId = key.slice(0, end)
    const times = byProject.get(projectId) ?? new Map<string, EpochSeconds>()
    byProject.set(projectId, times.set(key.slice(end + 1), at))
  }
  return byProject
}
