import { BadArgument } from '../write-parameter.ts'

/** Elements of lists in one request. More would hold the event loop. */
const MOST_STEPS = 10_000

/** What the conversions of one request have cost. */
export interface Work {
  /** Throws `BadArgument` when all has been spent. */
  spend(steps: number): void
}

export function createWork(): Work {
  let left = MOST_STEPS
  return {
    spend(steps) {
      left -= steps
      if (left < 0)
        throw new BadArgument(
          `The input is too large: at most ${MOST_STEPS} elements of lists are converted for a request.`,
        )
    },
  }
}
