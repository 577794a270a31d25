import type { EpochSeconds } from './clock.ts'
import type { Sealed } from './sealed.ts'

/** A value, such as an API key, that tools declare by its key and receive when they run. Keys match in any case. */
export interface Secret {
  readonly id: string
  readonly projectId: string
  readonly key: string
  readonly description?: string
  readonly value: Sealed
  readonly createdAt: EpochSeconds
  readonly updatedAt: EpochSeconds
  readonly lastAccessedAt?: EpochSeconds
}
