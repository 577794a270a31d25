import type { Clock, EpochSeconds } from '../domain/clock.ts'

/** Counted again after that long, for what was settled, expired or begun elsewhere meanwhile. */
const COUNTED_SECONDS = 10
/** Few enough to be counted every time it matters. */
const FEW = 1_000

/** How many of something a project has waiting, without counting them for each. */
export interface PendingLimit {
  /** Whether the project has as many as it may. */
  isFull(projectId: string): Promise<boolean>
  /** One more was begun. */
  added(projectId: string): void
}

interface Known {
  live: number
  at: EpochSeconds
}

export function createPendingLimit(
  countLive: (projectId: string, now: EpochSeconds) => Promise<number>,
  most: number,
  now: Clock,
): PendingLimit {
  const known = new Map<string, Known>()
  const counting = new Map<string, Promise<Known>>()

  function count(projectId: string): Promise<Known> {
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

  /** Counting many takes milliseconds, so that is done once a second at most. */
  function isStale({ live, at }: Known): boolean {
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
