// Work that is done piece by piece on the event loop shares its time with everything else: pieces of all streams
// together take at most a few milliseconds, then other requests have their turn.

const BUDGET_MS = 3

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
