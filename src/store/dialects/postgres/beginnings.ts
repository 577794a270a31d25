/** The numbers of a process's transactions, and when each was begun (`performance.now()`), in steps of `STEP_MS`. */
export interface Beginnings {
  /** The number of a transaction that begins now. */
  next(): number
  /** All commits from before this time were visible to a reader that sees this number; long ago where it is not known. */
  at(number: number): number
  /** Milliseconds since the last transaction began. */
  sinceLast(): number
}

const STEP_MS = 50
/** How many steps are kept: at least half a minute. */
const KEPT = 600

export function createBeginnings(): Beginnings {
  const steps: { readonly number: number; readonly at: number }[] = []
  let number = 0
  let lastAt = Number.NEGATIVE_INFINITY
  return {
    next() {
      number++
      const now = performance.now()
      lastAt = now
      if (now - (steps.at(-1)?.at ?? Number.NEGATIVE_INFINITY) >= STEP_MS) steps.push({ number, at: now })
      if (steps.length > KEPT) steps.shift()
      return number
    },
    at: (seen) => steps.findLast((step) => step.number <= seen)?.at ?? Number.NEGATIVE_INFINITY,
    sinceLast: () => performance.now() - lastAt,
  }
}
