import type { Command } from 'commander'
import type { Config } from '../config.ts'
import { developmentKeyFile } from '../development-key.ts'
import type { AnsweredCall } from '../http/server/call-log.ts'
import { createLog } from '../log.ts'
import { readConfig } from '../read-config.ts'
import { type RunningServer, startServer } from '../server.ts'
import { databaseName } from '../store/database-location.ts'
import { version } from '../version.ts'
import { pastedCommands } from './dev-commands.ts'
import { print, printJson } from './print.ts'
import { exitAfterLog, runUntilSignal, serverInfo } from './serve.ts'
import { jsonOption, type Shell } from './shell.ts'

export function defineDev(command: Command, { environment }: Shell): void {
  command
    .option('--commands', 'also print commands that try everything with curl, including the API key')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExamples:\n  $ gatepass dev\n  $ GATEPASS_PORT=8500 gatepass dev\n  $ gatepass dev --commands\n  $ gatepass dev --json',
    )
    .action(async ({ commands, json }: { readonly commands?: true; readonly json?: true }) => {
      const config = readConfig(environment, 'development')
      // with a level of their own, operators read the log by a program; else it shares the terminal with the calls
      const log = environment.GATEPASS_LOG_LEVEL
        ? createLog(config.logLevel)
        : createLog('warn', { as: 'text' })
      const server = await startServer(config, {
        log,
        onCall: showCall,
        printLink: (url) => showLink(url, { json }),
      })
      if (json)
        printJson({
          ...serverInfo(config, 1),
          ...(server.apiKey !== undefined && { api_key: server.apiKey }),
        })
      else print(welcome(config, server) + (commands ? pastedCommands(config, keyOf(config, server)) : ''))
      await runUntilSignal(server, log)
      await exitAfterLog(log)
    })
}

/** The link that a page of the console has asked for: the terminal alone shows it, on a line of its own. */
function showLink(url: string, { json }: { readonly json?: true | undefined }): void {
  if (json) printJson({ console_url: url })
  else print(`  Console   ${url}   ${LINK_VALIDITY}`)
}

const LINK_VALIDITY = '(works once, for ten minutes)'

/** What runs, and where to click. The developer needs nothing else: the console shows the rest. */
function welcome(config: Config, server: RunningServer): string {
  const { publicUrl, database, dashboard } = config
  const link = server.makeLink?.()
  const console = link
    ? `${link}   ${LINK_VALIDITY}`
    : `${publicUrl.origin}/dashboard   (log in with the API key)`
  return `
Gatepass ${version} is running at ${publicUrl.origin}, in development mode, with the database ${databaseName(database)}.
${dashboard.serve === 'off' ? '' : `  Console   ${console}\n`}  API       ${publicUrl.origin}/docs   (--commands prints a first run with curl)
  API key   ${server.apiKey === undefined ? 'that of GATEPASS_API_KEY' : developmentKeyFile(database)}
  Ctrl+C    stops Gatepass. Each call is shown below.
`
}

function keyOf({ apiKey }: Config, server: RunningServer): string {
  return server.apiKey ?? apiKey ?? ''
}

/** Prints to standard error, so that standard output of `dev --json` stays machine-readable. */
function showCall({ method, path, status, outcome, ms }: AnsweredCall): void {
  process.stderr.write(`${method.padEnd(6)} ${path}  ${status} ${outcome}  ${ms} ms\n`)
}
