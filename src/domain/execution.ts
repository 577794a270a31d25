import type { EpochSeconds } from './clock.ts'
import type { Sealed } from './sealed.ts'

/** By which way a tool was asked to run. */
export const ENTRY_POINTS = ['execute', 'run', 'run_stream', 'run_chain', 'code', 'oxp'] as const
export type EntryPoint = (typeof ENTRY_POINTS)[number]

export const EXECUTION_STATUSES = ['scheduled', 'running', 'completed', 'failed', 'cancelled'] as const
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number]

/**
 * One run of a tool, as it is remembered: what ran, for whom and how it ended. What went in and came out only where the
 * caller asked for that, and for a run that is put off, whose caller is not there when it ends.
 */
export interface ExecutionRecord {
  /** `exec_…`, the `execution_id` of the answer. */
  readonly id: string
  readonly projectId: string
  readonly userId?: string
  /** The tool's id (`namespace:name:version`) as it was then. */
  readonly toolId: string
  readonly type: 'immediate' | 'scheduled'
  readonly entryPoint: EntryPoint
  readonly status: ExecutionStatus
  /** How it ended; absent before it has. */
  readonly outcome?: 'value' | 'artifact' | 'error' | 'requires_authorization'
  readonly errorKind?: string
  /** The key that asked for it. */
  readonly apiKeyId?: string
  /** Of a scheduled one: not before then. */
  readonly runAt?: EpochSeconds
  readonly createdAt: EpochSeconds
  readonly updatedAt: EpochSeconds
  readonly startedAt?: EpochSeconds
  readonly finishedAt?: EpochSeconds
  readonly durationMs?: number
  /** How often it was begun. */
  readonly attempts: number
  /** JSON, sealed: what the tool was asked. */
  readonly request?: Sealed
  /** JSON, sealed: what came of it, attempt by attempt. */
  readonly result?: Sealed
}
