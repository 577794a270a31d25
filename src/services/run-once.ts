import { AsyncLocalStorage } from 'node:async_hooks'
import type { BegunRun } from '../domain/execution.ts'

/** Records that the run is about to begin. Throws when it must not begin any more. */
export type RecordRun = (run: BegunRun) => Promise<void>

const currentRecordRun = new AsyncLocalStorage<RecordRun>()

/** Executes a request that has an idempotency key, so that a repeat knows which runs had begun if this process dies. */
export function runOnce<T>(recordRun: RecordRun, execute: () => T): T {
  return currentRecordRun.run(recordRun, execute)
}

/** Records the run, before work that must not be done twice. Has no effect for a request without an idempotency key. */
export async function aboutToRun(run: BegunRun): Promise<void> {
  await currentRecordRun.getStore()?.(run)
}
