import { setTimeout as pause } from 'node:timers/promises'

/**
 * Runs `slice` until it finds fewer rows than `limit`, the most that it takes at once, and returns how many it has taken
 * in all. After each slice it pauses as long as the slice took: requests of this process run meanwhile, and on SQLite the
 * writers of the others get their turn at the one write lock.
 *
 * A slice repeats its condition beside the list of its keys: PostgreSQL makes the list from what was committed when the
 * statement began, and checks only what is beside it against a row that another node has changed since.
 */
export async function inSlices(limit: number, slice: () => Promise<readonly unknown[]>): Promise<number> {
  for (let taken = 0; ; ) {
    const begun = performance.now()
    const { length } = await slice()
    taken += length
    if (length < limit) return taken
    await pause(performance.now() - begun)
  }
}
