import type { EpochSeconds } from './clock.ts'
import type { Sealed } from './sealed.ts'

/**
 * A tool call over MCP that asks its user. The process that runs the tool writes questions and the result; the process
 * that the client's answer reaches writes the answer.
 */
export interface SuspendedCall {
  /** `susp_…` */
  readonly id: string
  readonly projectId: string
  /** The process that runs the tool (`Processes`). */
  readonly processId: string
  readonly status: SuspendedCallStatus
  /** Sealed JSON: the question, its answer or the result, by `status`. */
  readonly payload: Sealed
  readonly expiresAt: EpochSeconds
}

export type SuspendedCallStatus = 'asking' | 'answered' | 'ended'
