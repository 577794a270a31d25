const MOST_TURNS = 5

/**
 * Does something that returns how long it took, at most five times one after another, until that is less than `enough`;
 * returns the least. A machine that stops for a moment delays one of them, and a program that waits delays each.
 */
export async function soonest(turn: () => Promise<number>, enough: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let turns = 0; turns < MOST_TURNS && least >= enough; turns++) least = Math.min(least, await turn())
  return least
}

/** The least time that some work takes, in milliseconds, as of `soonest`. */
export function shortest(work: () => unknown, enough: number): Promise<number> {
  return soonest(async () => {
    const began = performance.now()
    await work()
    return performance.now() - began
  }, enough)
}
