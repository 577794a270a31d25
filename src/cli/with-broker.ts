import type { Broker } from '../broker.ts'
import { type Config, readConfig } from '../config.ts'
import { ConfigError } from '../config-error.ts'
import { withSandboxClient } from '../dev-provider/client.ts'
import type { Project } from '../domain/project.ts'
import { DEFAULT_PROJECT } from '../domain/project.ts'
import { createLog } from '../log.ts'
import { openBroker } from '../open-broker.ts'
import { inContext } from '../services/request-context.ts'
import { databaseName } from '../store/database-place.ts'
import { isBegun } from '../store/open-store.ts'
import { CommandFailure, EXIT } from './failure.ts'
import type { Shell } from './shell.ts'

/** What a command works on: the database itself, beside a server that may be running. No API key is needed. */
export interface Opened {
  readonly broker: Broker
  readonly config: Config
  readonly project: Project
}

export interface OpenOptions {
  readonly project?: string | undefined
  /** What may be made when it is not there: the database with the default project, or any project too. */
  readonly makes?: 'database' | 'project'
}

/** Opens the database and the project, runs the command, and closes. Throws `CommandFailure` when they are not there. */
export async function withBroker(
  { environment, command = 'gatepass' }: Shell,
  { project: name = DEFAULT_PROJECT, makes }: OpenOptions,
  run: (opened: Opened) => Promise<void>,
): Promise<void> {
  const config = readSettings(environment, { makeKey: makes !== undefined })
  if (makes === undefined && !(await isBegun(config.database)))
    throw new CommandFailure(
      `There is no database ${databaseName(config.database)} yet. Start Gatepass first, or set GATEPASS_DATABASE_URL to the one its server uses, or name the server with --url.`,
      EXIT.notFound,
    )
  const broker = await openBroker(config, { log: createLog('warn') })
  try {
    const { projects } = broker.store
    const isMade = makes === 'project' || (makes === 'database' && name === DEFAULT_PROJECT)
    const project = isMade ? await projects.ensure(name, broker.now()) : await projects.findByName(name)
    if (project === undefined)
      throw new CommandFailure(
        `There is no project "${name}". \`gatepass keys create --project ${name} --role admin\` makes it.`,
        EXIT.notFound,
      )
    await inContext({ actor: { kind: 'cli' }, purpose: command }, () => run({ broker, config, project }))
  } finally {
    await broker.close()
  }
}

/** The settings as the server of this machine reads them: those of `serve` when they are all there, else of `dev`. */
export function readSettings(
  environment: Shell['environment'],
  { makeKey }: { readonly makeKey: boolean },
): Config {
  try {
    return readConfig(environment, 'serve')
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return withSandboxClient(readConfig(environment, 'development', { makeKey }))
  }
}
