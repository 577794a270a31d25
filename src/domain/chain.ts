import type { EpochSeconds } from './clock.ts'
import type { Sealed } from './sealed.ts'

/** A chain of tool runs that waits for its user's consent. Its id is the handle by which it is resumed, once. */
export interface PausedChain {
  /** `chain_…` */
  readonly id: string
  readonly projectId: string
  /** JSON, sealed: its steps, and what the finished ones answered. */
  readonly state: Sealed
  readonly expiresAt: EpochSeconds
}
