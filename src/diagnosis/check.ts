import type { Broker } from '../broker.ts'
import type { Config } from '../config.ts'
import type { Project } from '../domain/project.ts'

/** The result of one check. `failed`: it does not work; `warning`: it works with a reservation, or is not in use yet. */
export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
  /** What the operator should do. */
  readonly fix?: string
}

/** One project of an installation, checked against the settings of the checking process. */
export interface DiagnosisTarget {
  readonly broker: Broker
  readonly config: Config
  readonly project: Project
}
