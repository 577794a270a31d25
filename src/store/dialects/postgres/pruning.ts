/** How long a row of changes is kept at least, for processes that read it late. */
const KEPT_MS = 30_000
/** How often rows are deleted. */
const EVERY_MS = 10_000

/**
 * Decides which rows of changes are deleted: those of transactions that had ended `KEPT_MS` ago, by this process's own
 * monotonic clock. A process that reads later than that finds the row which says what was deleted.
 */
export interface Pruning {
  /** All transactions below this id have ended now. */
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
      void prune(oldest.horizon).catch(() => {}) // the next round deletes these rows too
    },
  }
}
