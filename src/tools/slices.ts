// Divides long work on the event loop into slices. The slices of all streams together take at most a few milliseconds in
// one turn of the event loop, so that other requests are served in between.

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
  if (waiting.length === 1) setImmediate(doSome)
  return promise
}

function doSome(): void {
  const begun = performance.now()
  do waiting.shift()?.()
  while (waiting.length > 0 && performance.now() - begun < BUDGET_MS)
  if (waiting.length > 0) setImmediate(doSome)
}

/** Turns of the event loop for work in a loop: `pause` after each piece waits once the work has taken its time. */
export interface Turns {
  pause(): Promise<void> | undefined
}

export function createTurns(budgetMs = BUDGET_MS): Turns {
  let begun = performance.now()
  return {
    pause() {
      if (performance.now() - begun < budgetMs) return undefined
      return ownTurn().then(() => {
        begun = performance.now()
      })
    },
  }
}

/** Work that yields where other requests may be served in between. */
export type Steps<Result> = Generator<void, Result>

/** Runs the work in slices. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  const turns = createTurns()
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    const pause = turns.pause()
    if (pause !== undefined) await pause
  }
}

/** Runs the work, which is known to be short, without a pause. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

const turns: (() => void)[] = []

/**
 * Resolves when the caller may use a few milliseconds: each turn of the event loop continues one waiting caller. For work
 * that is not a function, such as what the consumer of a stream does with a chunk.
 */
export function ownTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (turns.push(resolve) === 1) setImmediate(nextTurn)
  return promise
}

function nextTurn(): void {
  turns.shift()?.()
  if (turns.length > 0) setImmediate(nextTurn)
}
