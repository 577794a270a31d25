import type { Config } from '../config.ts'
import { ConfigError } from '../config-error.ts'
import { withSandboxClient } from '../dev-provider/client.ts'
import { DEFAULT_PROJECT } from '../domain/project.ts'
import { createLog } from '../log.ts'
import { openBroker } from '../open-broker.ts'
import { readConfig } from '../read-config.ts'
import { inContext } from '../services/request-context.ts'
import { databaseName } from '../store/database-location.ts'
import { isBegun } from '../store/open-store.ts'
import { CommandFailure, EXIT } from './failure.ts'
import type { LocalInstallation, OpenOptions } from './installation.ts'
import type { Shell } from './shell.ts'

/** Opens the database and the project, runs the command, and closes. Throws `CommandFailure` if one does not exist. */
export async function withBroker(
  { environment, command = 'gatepass' }: Shell,
  { project: name = DEFAULT_PROJECT, creates }: OpenOptions,
  run: (opened: LocalInstallation) => Promise<void>,
): Promise<void> {
  const config = readSettings(environment, { makeKey: creates !== undefined })
  if (creates === undefined && !(await isBegun(config.database)))
    throw new CommandFailure(
      `There is no database ${databaseName(config.database)} yet. Start Gatepass first, set GATEPASS_DATABASE_URL to the database that its server uses, or name the server with --url.`,
      EXIT.notFound,
    )
  const broker = await openBroker(config, { log: createLog('warn', { writes: 'at once' }) })
  try {
    const { projects } = broker.store
    const mayCreate = creates === 'project' || (creates === 'database' && name === DEFAULT_PROJECT)
    const project = mayCreate ? await projects.ensure(name, broker.now()) : await projects.findByName(name)
    if (project === undefined)
      throw new CommandFailure(
        `There is no project "${name}". To create it, run \`gatepass keys create --project ${name} --role admin\`.`,
        EXIT.notFound,
      )
    await inContext({ actor: { kind: 'cli' }, purpose: command }, () => run({ broker, config, project }))
  } finally {
    await broker.close()
  }
}

/** Reads the settings like a server on this machine: those of `serve` if they are complete, or else those of `dev`. */
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
