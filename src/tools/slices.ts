// Divides long work on the event loop into slices. All slices together take at most a few milliseconds in one iteration
// of the event loop, so that other requests are served in between.

export const BUDGET_MS = 3

const waiting: (() => void)[] = []

/** Runs one piece of work in a slice, in the order of the calls. */
export function inSlice<Result>(work: () => Result): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  waiting.push(() => {
    try {
      resolve(work())
    } catch (error) {
      reject(error)
    }
  })
  if (waiting.length === 1) setImmediate(runWaiting)
  return promise
}

function runWaiting(): void {
  const begun = performance.now()
  do waiting.shift()?.()
  while (waiting.length > 0 && performance.now() - begun < BUDGET_MS)
  if (waiting.length > 0) setImmediate(runWaiting)
}

/** The time that a loop may hold the event loop without a pause. */
export interface TimeBudget {
  /** Called after each piece of work. Returns a promise to await when the time is used up; `undefined` before. */
  pause(): Promise<void> | undefined
}

export function createTimeBudget(budgetMs = BUDGET_MS): TimeBudget {
  let begun = performance.now()
  return {
    pause() {
      if (performance.now() - begun < budgetMs) return undefined
      return waitForTurn().then(() => {
        begun = performance.now()
      })
    },
  }
}

/** Work as a generator, which yields where it may be paused to serve other requests. */
export type Steps<Result> = Generator<void, Result>

/** Runs the steps, and pauses when the time budget is used up. */
export async function runInSlices<Result>(steps: Steps<Result>): Promise<Result> {
  const budget = createTimeBudget()
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    const pause = budget.pause()
    if (pause !== undefined) await pause
  }
}

/** Runs the steps without a pause: for work that is known to be short. */
export function runWithoutPause<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

const waitingCallers: (() => void)[] = []

/**
 * Resolves when the caller may use a few milliseconds: each iteration of the event loop continues one waiting caller. For
 * work that is not a function, such as what the consumer of a stream does with a chunk.
 */
export function waitForTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (waitingCallers.push(resolve) === 1) setImmediate(continueNext)
  return promise
}

function continueNext(): void {
  waitingCallers.shift()?.()
  if (waitingCallers.length > 0) setImmediate(continueNext)
}
