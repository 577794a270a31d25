import type { EpochSeconds } from './clock.ts'
import type { Sealed } from './sealed.ts'

/** The endpoint by which a tool was run; `tool`: another tool has called it; `console`: an administrator tried it there. */
export const ENTRY_POINTS = [
  'execute',
  'run',
  'run_stream',
  'run_chain',
  'code',
  'oxp',
  'mcp',
  'tool',
  'console',
] as const
export type EntryPoint = (typeof ENTRY_POINTS)[number]

export const EXECUTION_STATUSES = [
  'scheduled',
  'waiting_for_approval',
  'running',
  'completed',
  'failed',
  'cancelled',
] as const
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number]

/**
 * The record of one run of a tool: what ran, for which user and how it ended. Input and output are kept only if the
 * caller asked for it, or if the run was scheduled, since its caller has gone when it ends.
 */
export interface ExecutionRecord {
  /** `exec_…`, the `execution_id` of the answer. */
  readonly id: string
  readonly projectId: string
  readonly userId?: string
  /** The tool's id (`namespace:name:version`) at the time of the run. */
  readonly toolId: string
  readonly type: 'immediate' | 'scheduled'
  readonly entryPoint: EntryPoint
  readonly status: ExecutionStatus
  /** How the run ended; absent until then. */
  readonly outcome?: 'value' | 'artifact' | 'error' | 'requires_authorization'
  readonly errorKind?: string
  /** Whether a run that failed may be repeated. Not kept: the event of the failure has it. */
  readonly retryable?: boolean
  /** The API key that requested the run. */
  readonly apiKeyId?: string
  /** The earliest time at which a scheduled run starts. */
  readonly runAt?: EpochSeconds
  /** The approval that a scheduled run needs, or has spent. */
  readonly approvalId?: string
  readonly createdAt: EpochSeconds
  readonly updatedAt: EpochSeconds
  readonly startedAt?: EpochSeconds
  readonly finishedAt?: EpochSeconds
  readonly durationMs?: number
  /** How many attempts were started. */
  readonly attempts: number
  /** Sealed JSON: the request to the tool. */
  readonly request?: Sealed
  /** Sealed JSON: the results, one per attempt. */
  readonly result?: Sealed
}

/** A run of a tool that is not safe to repeat. */
export interface BegunRun {
  readonly executionId: string
  readonly toolId: string
}
