import { AsyncLocalStorage } from 'node:async_hooks'
import type { BegunRun } from '../domain/execution.ts'

/** Writes down that the run is about to be begun, before it is; throws when it must not be begun any more. */
export type WriteDown = (run: BegunRun) => Promise<void>

const requests = new AsyncLocalStorage<WriteDown>()

/** Carries a request out that is known by a name, so that a repeat of it can tell what was begun when this process dies. */
export function runOnce<T>(writeDown: WriteDown, carryOut: () => T): T {
  return requests.run(writeDown, carryOut)
}

/** To be awaited before something is done that must not be done twice. Costs nothing where the request has no name. */
export async function aboutToRun(run: BegunRun): Promise<void> {
  await requests.getStore()?.(run)
}
