import type { Command } from 'commander'
import type { Config } from '../config.ts'
import { developmentKeyFile } from '../development-key.ts'
import { loadFeatures } from '../features/load-features.ts'
import type { AnsweredCall } from '../http/server/call-log.ts'
import { createLog } from '../log.ts'
import { readConfig } from '../read-config.ts'
import { type RunningServer, startServer } from '../server.ts'
import { databaseName } from '../store/database-location.ts'
import { version } from '../version.ts'
import { pastedCommands } from './dev-commands.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { print, printJson, sanitize } from './print.ts'
import { exitAfterLog, runUntilSignal, serverInfo } from './serve.ts'
import { jsonOption, type Shell } from './shell.ts'
import type { PlannedSimulation, SimulatedServer, SimulatedServerParts } from './simulated-server.ts'

interface DevOptions {
  readonly commands?: true
  readonly json?: true
  readonly pack?: readonly string[]
}

export function defineDev(command: Command, shell: Shell): void {
  const { environment } = shell
  command
    .option('--commands', 'also print commands that try everything with curl, including the API key')
    .option(
      '--pack <ids...>',
      'simulate the services of these tool packs; the database is then deleted at the end',
    )
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExamples:\n  $ gatepass dev\n  $ GATEPASS_PORT=8500 gatepass dev\n  $ gatepass dev --commands\n  $ gatepass dev --pack gmail slack\n  $ gatepass dev --json',
    )
    .action(async ({ commands, json, pack }: DevOptions) => {
      let log = createLog('warn', { as: 'text' })
      const partsFor = ({ logLevel }: Config): SimulatedServerParts => {
        // with a level of their own, operators read the log by a program; else it shares the terminal with the calls
        if (environment.GATEPASS_LOG_LEVEL) log = createLog(logLevel)
        return { log, onCall: showCall, printLink: (url) => showLink(url, { json }) }
      }
      const simulated =
        pack && (await shell.startSimulated(environment, await plan(pack, environment), partsFor))
      const config = simulated?.config ?? readConfig(environment, 'development')
      const server = simulated ?? (await startServer(config, partsFor(config)))
      const known = server.apiKey ?? config.apiKey ?? ''
      if (json)
        printJson({
          ...serverInfo(config, 1),
          ...(config.apiKey === undefined && { api_key: server.apiKey }),
        })
      else print(welcome(config, server, simulated) + (commands ? pastedCommands(config, known) : ''))
      await runUntilSignal(server, log)
      await exitAfterLog(log)
    })
}

/** Throws `CommandFailure` for a pack that does not exist. */
async function plan(ids: readonly string[], environment: Shell['environment']): Promise<PlannedSimulation> {
  const [simulate] = await loadFeatures('simulation')
  if (simulate === undefined)
    throw new CommandFailure('This Gatepass has no tool packs that --pack could simulate.', EXIT.usage)
  return simulate(ids, environment.GATEPASS_PACKS?.trim() || undefined)
}

/** The link that a page of the console has asked for: the terminal alone shows it, on a line of its own. */
function showLink(url: string, { json }: { readonly json?: true | undefined }): void {
  if (json) printJson({ console_url: url })
  else print(`  Console   ${url}   ${LINK_VALIDITY}`)
}

const LINK_VALIDITY = '(works once, for ten minutes)'

/** What runs, and where to click. The developer needs nothing else: the console shows the rest. */
function welcome(
  config: Config,
  server: Pick<RunningServer, 'makeLink' | 'apiKey'>,
  simulated: SimulatedServer | undefined,
): string {
  const { publicUrl, database, dashboard } = config
  const link = server.makeLink?.()
  const console = link
    ? `${link}   ${LINK_VALIDITY}`
    : `${publicUrl.origin}/dashboard   (log in with the API key)`
  const about = (simulated?.about ?? []).map((line) => `  Pack      ${sanitize(line)}\n`)
  const kept = simulated ? 'a database that is deleted at the end' : `the database ${databaseName(database)}`
  return `
Gatepass ${version} is running at ${publicUrl.origin}, in development mode, with ${kept}.
${dashboard.serve === 'off' ? '' : `  Console   ${console}\n`}  API       ${publicUrl.origin}/docs   (--commands prints a first run with curl)
${about.join('')}  API key   ${config.apiKey !== undefined ? 'that of GATEPASS_API_KEY' : developmentKeyFile(database)}
  Ctrl+C    stops Gatepass. Each call is shown below.
`
}

/** Prints to standard error, so that standard output of `dev --json` stays machine-readable. */
function showCall({ method, path, status, outcome, ms }: AnsweredCall): void {
  process.stderr.write(`${method.padEnd(6)} ${path}  ${status} ${outcome}  ${ms} ms\n`)
}
