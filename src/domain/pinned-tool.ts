import type { EpochSeconds } from './clock.ts'
import type { WorkerNeeds } from './worker-needs.ts'

/**
 * What happens when the definition of a worker's tool changes. `hold`: the tool keeps its accepted text and does not run,
 * and new tools wait, until an administrator accepts them. `record`: the change applies, on record. `off`: it applies.
 */
export const PINNINGS = ['hold', 'record', 'off'] as const
export type Pinning = (typeof PINNINGS)[number]

/**
 * A tool of a worker whose definition waits for an administrator, or that the worker no longer lists and that returns
 * unasked only as it was. A tool that is listed as it was accepted has no such row.
 */
export interface PinnedTool {
  readonly workerUid: string
  readonly projectId: string
  /** The id of the stored tool, or of the new one. */
  readonly tool: string
  /** The digest of the definition that was accepted last; absent for a new tool. */
  readonly accepted?: string
  /** The digest of the definition that waits; absent while the worker does not list the tool. */
  readonly waiting?: string
  /** SHA-256 of `definition`, by which the next reading sees whether the worker lists the same again. */
  readonly listed?: string
  /** What the waiting definition requires. */
  readonly needs?: WorkerNeeds
  /** Whether the definition has changed and returned to the accepted one: it may change again after a look at it. */
  readonly isUnstable: boolean
  readonly since: EpochSeconds
  /** The whole tool as the worker lists it, as JSON. Absent where it was not read from the store. */
  readonly definition?: string
  /** Keyed MAC over all other members (`protected-tables.ts`); the store writes it. */
  readonly mac?: string
}

/** A definition that waits. */
export type WaitingDefinition = PinnedTool & Required<Pick<PinnedTool, 'waiting' | 'listed' | 'needs'>>

export function isWaiting(pinned: PinnedTool): pinned is WaitingDefinition {
  return pinned.waiting !== undefined
}
