import type { Clock, EpochSeconds } from '../domain/clock.ts'

/** A count is repeated after this time, since other processes add and settle rows, and rows expire. */
const COUNTED_SECONDS = 10
/** At the limit, up to this many rows are counted at every check, and more once a second. */
const FEW = 1_000

/** Limits the pending rows of a project, without a count in the database for each new one. */
export interface PendingLimit {
  /** Whether the project has reached the limit. */
  isFull(projectId: string): Promise<boolean>
  /** Notes that one more was added. */
  added(projectId: string): void
}

interface Count {
  live: number
  at: EpochSeconds
}

export function createPendingLimit(
  countLive: (projectId: string, now: EpochSeconds) => Promise<number>,
  most: number,
  now: Clock,
): PendingLimit {
  const known = new Map<string, Count>()
  const counting = new Map<string, Promise<Count>>()

  function count(projectId: string): Promise<Count> {
    const running = counting.get(projectId)
    if (running !== undefined) return running
    const started = countLive(projectId, now())
      .then((live) => {
        const counted = { live, at: now() }
        known.set(projectId, counted)
        return counted
      })
      .finally(() => counting.delete(projectId))
    counting.set(projectId, started)
    return started
  }

  /** Counting many rows takes milliseconds, so a project at its limit is counted at most once a second. */
  function isStale({ live, at }: Count): boolean {
    const age = now() - at
    return age >= COUNTED_SECONDS || (live >= most && (live <= FEW || age >= 1))
  }

  return {
    async isFull(projectId) {
      const last = known.get(projectId)
      const { live } = last === undefined || isStale(last) ? await count(projectId) : last
      return live >= most
    },
    added(projectId) {
      const last = known.get(projectId)
      if (last !== undefined) last.live++
    },
  }
}
