import type { Broker } from '../broker.ts'
import type { Config } from '../config.ts'
import type { Project } from '../domain/project.ts'

/** One thing that was looked at. `failed` does not work; `warning` works, or is not in use yet. */
export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
  /** What to do about it. */
  readonly fix?: string
}

/** What is judged: one project of an installation, by the settings of the process that judges. */
export interface Diagnosed {
  readonly broker: Broker
  readonly config: Config
  readonly project: Project
}
