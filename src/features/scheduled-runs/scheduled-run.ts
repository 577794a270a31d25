import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { ExecutionRecord } from '../../domain/execution.ts'
import type { Sealed } from '../../domain/sealed.ts'
import { UnsealError } from '../../store/seal.ts'
import type { PlannedRun } from '../../tools/run/execution.ts'
import {
  openAttempts,
  openRequest,
  type StoredRequest,
  sealAttempts,
} from '../../tools/run/execution-history.ts'
import { getExecution } from '../../tools/run/get-execution.ts'

/** The request of a scheduled run, sealed in its row. */
export interface ScheduledRequest extends StoredRequest {
  /** `traceparent` of the request that scheduled the run, if its trace is recorded. */
  readonly traceparent?: string | undefined
  /** The source of the tool (`tool-source.ts`). */
  readonly source?: string
  /** What people were asked about the run. */
  readonly later?: PlannedRun
  /** What decides when, as whom and what it runs. Absent in runs that were not scheduled. */
  readonly scheduled?: ScheduledRun
}

/** The columns of a scheduled run that its request has too, because a program that writes the database could change them. */
export type ScheduledRun = Pick<
  ExecutionRecord,
  'userId' | 'toolId' | 'entryPoint' | 'apiKeyId' | 'runAt' | 'approvalId' | 'createdAt'
>

/** Whether the row is that of the run that was scheduled. A retry comes later than `runAt`, never earlier. */
export function isAsScheduled(record: ExecutionRecord, { scheduled }: ScheduledRequest): boolean {
  return (
    scheduled !== undefined &&
    (['userId', 'toolId', 'entryPoint', 'apiKeyId', 'approvalId', 'createdAt'] as const).every(
      (member) => record[member] === scheduled[member],
    ) &&
    (record.runAt ?? 0) >= (scheduled.runAt ?? 0)
  )
}

/** Decrypts the request; `undefined` if it is no longer stored. Throws `UnsealError`. */
export function openScheduled(broker: Broker, record: ExecutionRecord): ScheduledRequest | undefined {
  return openRequest(broker, record)
}

/** Throws `not_found`, `invalid_request` for a run that has begun. */
export async function cancelScheduled(
  broker: Broker,
  projectId: string,
  id: string,
): Promise<ExecutionRecord> {
  const record = await getExecution(broker, projectId, id, 'scheduled')
  const audit = broker.audit.of(projectId, { action: 'tool.cancelled', tool: record.toolId, subject: id })
  const result = sealEnded(broker, record)
  const cancelled = await broker.store.scheduledRuns.cancel(projectId, id, broker.now(), audit, result)
  if (cancelled === undefined)
    throw new BrokerError('invalid_request', 'The run has begun or ended already, so it cannot be canceled.')
  if (record.approvalId !== undefined)
    await broker.approvals?.withdraw(projectId, record.approvalId).catch(ignoreAbsent)
  return cancelled
}

/** Encrypts what is kept of a scheduled run that ends before it has begun; `undefined` if the row was altered. */
function sealEnded(broker: Broker, record: ExecutionRecord): Sealed | undefined {
  try {
    return sealAttempts(broker, record, openAttempts(broker, record), openRequest(broker, record))
  } catch (error) {
    if (error instanceof UnsealError) return undefined
    throw error
  }
}

/** The approval was erased with the data of its user. */
function ignoreAbsent(error: unknown): void {
  if (!(error instanceof BrokerError) || error.code !== 'not_found') throw error
}
