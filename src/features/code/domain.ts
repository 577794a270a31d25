import type { EpochSeconds } from '../../domain/clock.ts'
import type { Sealed } from '../../domain/sealed.ts'

/** A run of code that ended at a call whose user must approve first. Its id resumes it, one request at a time. */
export interface PausedCode {
  /** `code_…` */
  readonly id: string
  readonly projectId: string
  readonly userId?: string | undefined
  /** Sealed JSON: the calls that have ended, with all that makes the code take the same path again. */
  readonly state: Sealed
  /** Set while a request resumes the run: the latest time at which that request ends. */
  readonly runningUntil?: EpochSeconds | undefined
  readonly expiresAt: EpochSeconds
}
