import type { Broker } from '../broker.ts'
import type { Config } from '../config.ts'
import type { Project } from '../domain/project.ts'

/** The database itself, opened by a command beside a server that may be running. No API key is needed. */
export interface LocalInstallation {
  readonly broker: Broker
  readonly config: Config
  readonly project: Project
}

/** Which project is opened, and what may be created for it. */
export interface OpenOptions {
  readonly project?: string | undefined
  /** What the command creates if it does not exist: the database with the default project, or also any other project. */
  readonly creates?: 'database' | 'project'
}
