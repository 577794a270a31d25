// Work that is done piece by piece on the event loop shares its time with everything else: pieces of all streams
// together take at most a few milliseconds, then other requests have their turn.

export const BUDGET_MS = 3

const waiting: (() => void)[] = []

/** Does one piece of work, in the order in which they are asked for. */
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

const turns: (() => void)[] = []

/**
 * Resolves when what follows may take a few milliseconds: of all that wait, one goes on in each turn of the event loop.
 * For work that cannot be handed over as a function, such as what a consumer of a stream does with a piece of it.
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
