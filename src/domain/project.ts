import type { EpochSeconds } from './clock.ts'

/** Isolates callers from one another: every record belongs to exactly one project. */
export interface Project {
  readonly id: string
  readonly name: string
  readonly createdAt: EpochSeconds
}

/** The project that exists from the first start. */
export const DEFAULT_PROJECT = 'default'
