import type { EpochSeconds } from './clock.ts'

/** Isolates callers from one another: every record belongs to exactly one project. */
export interface Project {
  readonly id: string
  readonly name: string
  readonly createdAt: EpochSeconds
}

/** The project that exists from the first start. */
export const DEFAULT_PROJECT = 'default'

/** The name of a new project has only characters that need no quoting in a shell, a URL or a configuration file. */
export const PROJECT_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/
export const PROJECT_NAME_RULE = 'letters, digits, _ . - only, a letter or digit first'
