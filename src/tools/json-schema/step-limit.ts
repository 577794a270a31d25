/**
 * The step limit of one check. A step takes 10 to 200 ns, so a hostile schema or a pattern on a long text takes its thread
 * up to two seconds. Honest schemas never get near the limit.
 */
const MAX_STEPS = 10_000_000
/** The step limit of a check on the event loop. A check that takes more is repeated in a thread. */
export const QUICK_STEPS = 100_000

class StepLimitExceeded extends Error {}

// checks are synchronous, so one counter serves all
let stepsLeft = 0

/** Counts steps of the current check, and ends the check at the limit (`withStepLimit`). */
export function chargeSteps(steps: number): void {
  stepsLeft -= steps
  if (stepsLeft < 0) throw new StepLimitExceeded()
}

/** Why a value could not be checked. */
export type UncheckedReason = 'too_deep' | 'too_long' | 'not_checked'

/**
 * Runs `work` under the step limit. Returns the reason instead of a result when it takes too many steps or overflows
 * the stack.
 */
export function withStepLimit<Result>(work: () => Result, maxSteps = MAX_STEPS): Result | UncheckedReason {
  stepsLeft = maxSteps
  try {
    return work()
  } catch (error) {
    if (error instanceof StepLimitExceeded) return 'too_long'
    if (error instanceof RangeError) return 'too_deep'
    // ajv generates code that may throw for `unevaluatedProperties` in `oneOf`; no schema or value may stop the process
    if (error instanceof TypeError) return 'not_checked'
    throw error
  }
}
