import type { ExecutionRecord } from '../domain/execution.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from './metrics.ts'
import { createWriteBehind, type WriteBehind } from './write-behind.ts'

const MAX_RUNS = 20_000
const MAX_CHARACTERS = 64 * 1024 * 1024

/** The history of tool runs, written in batches, so that a run costs no write. A crash may lose the last second. */
export interface ExecutionLog extends Omit<WriteBehind<ExecutionRecord>, 'add'> {
  /** Queues a run that has ended. */
  record(record: ExecutionRecord): void
}

export function createExecutionLog(
  { executions }: Pick<Store, 'executions'>,
  metrics: Metrics,
): ExecutionLog {
  const queue = createWriteBehind<ExecutionRecord>({
    write: (batch) => executions.add([...batch.values()]),
    maxRows: MAX_RUNS,
    sizeOf: ({ request, result }) => (request?.length ?? 0) + (result?.length ?? 0),
    maxSize: MAX_CHARACTERS,
  })
  metrics.counted(
    'gatepass_executions_dropped_total',
    'Runs that are not in the history, because they could not be written in time',
    () => queue.dropped,
  )
  return Object.assign(queue, { record: (record: ExecutionRecord) => queue.add(record.id, record) })
}
