import type { EpochSeconds } from './clock.ts'
import type { Sealed } from './sealed.ts'

/** A value, such as an API key. Tools declare its `key`, in any letter case, and receive the value when they run. */
export interface Secret {
  readonly id: string
  readonly projectId: string
  readonly key: string
  readonly description?: string | undefined
  readonly value: Sealed
  readonly createdAt: EpochSeconds
  readonly updatedAt: EpochSeconds
  readonly lastAccessedAt?: EpochSeconds
}
