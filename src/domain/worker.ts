import type { EpochSeconds } from './clock.ts'
import type { Sealed } from './sealed.ts'

/** An HTTP tool worker (Arcade's worker protocol): where tools run. */
export interface Worker {
  readonly uid: string
  readonly projectId: string
  /** The name the operator gave it, unique in its project. */
  readonly id: string
  readonly type: 'http'
  readonly enabled: boolean
  /** The base URL; `/worker` is appended. */
  readonly uri: string
  /** Signs the HS256 tokens that the worker checks. */
  readonly secret: Sealed
  readonly timeoutSeconds: number
  readonly retry: number
  readonly createdAt: EpochSeconds
  readonly updatedAt: EpochSeconds
  /** When its catalogue was last read, and why it could not be. */
  readonly syncedAt?: EpochSeconds
  readonly syncError?: string
}
