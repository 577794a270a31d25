import type { Clock, EpochSeconds } from '../domain/clock.ts'

/** The rows are counted again after this time, since other processes add and settle rows, and rows expire. */
const COUNTED_SECONDS = 10
/** A project at its limit is counted at every check if it has at most this many rows, else at most once a second. */
const FEW = 1_000

/** Limits the pending rows of a project, without a count in the database for each new one. */
export interface PendingLimit {
  /**
   * Whether the project has reached the limit. When the rows cannot be counted, the last count is used for as long as a
   * new one, so that a worker of the database that does not answer keeps no other user from beginning. Throws when the rows
   * were never counted.
   */
  isFull(projectId: string): Promise<boolean>
  /** Adds one row to the count. */
  added(projectId: string): void
}

interface Count {
  live: number
  /** What the database counted. */
  readonly counted: number
  readonly at: EpochSeconds
  /** Whether rows were added to `live` that the count in the database may have included already. */
  isEstimate: boolean
}

/** A count of the database that has not ended. */
interface Counting {
  readonly counted: Promise<Count>
  /** How many rows were added meanwhile; whether the count includes them is unknown. */
  added: number
}

export function createPendingLimit(
  countLive: (projectId: string, now: EpochSeconds) => Promise<number>,
  limit: number,
  now: Clock,
): PendingLimit {
  const known = new Map<string, Count>()
  const counting = new Map<string, Counting>()

  function count(projectId: string): Promise<Count> {
    const running = counting.get(projectId)
    if (running !== undefined) return running.counted
    const last = known.get(projectId)
    const counted = countLive(projectId, now())
      .catch((error: unknown) => {
        if (last === undefined) throw error
        return last.counted
      })
      .then((live) => {
        const { added } = started
        const result = { live: live + added, counted: live, at: now(), isEstimate: added > 0 }
        known.set(projectId, result)
        return result
      })
      .finally(() => counting.delete(projectId))
    const started: Counting = { counted, added: 0 }
    counting.set(projectId, started)
    return counted
  }

  /** Whether the rows must be counted again. Counting many rows takes milliseconds: see `FEW`. */
  function isStale({ live, at, isEstimate }: Count): boolean {
    const age = now() - at
    const isOld = age >= COUNTED_SECONDS || age < 0 // the clock was set back
    return isOld || (live >= limit && (isEstimate || live <= FEW || age >= 1))
  }

  return {
    async isFull(projectId) {
      const last = known.get(projectId)
      const { live } = last === undefined || isStale(last) ? await count(projectId) : last
      return live >= limit
    },
    added(projectId) {
      const running = counting.get(projectId)
      if (running !== undefined) running.added++
      const last = known.get(projectId)
      if (last === undefined) return
      last.live++
      last.isEstimate = true
    },
  }
}
