/** Each row of changes is kept for at least this long, for processes that read late. */
const KEPT_MS = 30_000
/** The time between two deletions. */
const EVERY_MS = 10_000

/**
 * Deletes old rows of the table of changes: those of transactions that ended `KEPT_MS` ago, by this process's monotonic
 * clock. A process that reads even later finds the row that records the deletion.
 */
export interface Pruning {
  /** Called after a read: all transactions with a smaller id have ended. */
  passed(horizon: number): void
}

export function createPruning(
  prune: (below: number) => Promise<void>,
  now: () => number = () => performance.now(),
): Pruning {
  const horizons: { readonly horizon: number; readonly at: number }[] = []
  return {
    passed(horizon) {
      const last = horizons.at(-1)
      if (last !== undefined && now() - last.at < EVERY_MS) return
      horizons.push({ horizon, at: now() })
      const [oldest] = horizons
      if (oldest === undefined || now() - oldest.at < KEPT_MS) return
      horizons.shift()
      void prune(oldest.horizon).catch(() => {}) // the next call deletes these rows too
    },
  }
}
