/**
 * What one check may cost. A step takes 10 to 60 ns: a schema whose parts are applied over and over to the same value, or
 * a pattern that looks at a long text, holds the process for well under a second, and an honest one never gets near.
 */
const MAX_STEPS = 10_000_000

class TooLong extends Error {}

// one check runs at a time and to its end, so there is one count
let stepsLeft = 0

export function charge(steps: number): void {
  stepsLeft -= steps
  if (stepsLeft < 0) throw new TooLong()
}

/** Why nothing is known of a value. */
export type Unknown = 'too_deep' | 'too_long' | 'not_checked'

/** Does what charges for its steps; nothing is known of what costs too many, or nests deeper than the stack. */
export function withinSteps<Result>(work: () => Result): Result | Unknown {
  stepsLeft = MAX_STEPS
  try {
    return work()
  } catch (error) {
    if (error instanceof TooLong) return 'too_long'
    if (error instanceof RangeError) return 'too_deep'
    // the code ajv makes for `unevaluatedProperties` in `oneOf` may trip; no schema or value may stop the process
    if (error instanceof TypeError) return 'not_checked'
    throw error
  }
}
