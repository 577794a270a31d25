import type { EpochSeconds } from '../../domain/clock.ts'
import type { Sealed } from '../../domain/sealed.ts'

/** A chain of tool runs that is paused until its user has consented. Its id resumes it, once. */
export interface PausedChain {
  /** `chain_…` */
  readonly id: string
  readonly projectId: string
  /** Sealed JSON: the steps and the results of those that finished. */
  readonly state: Sealed
  readonly expiresAt: EpochSeconds
}
