import type { Command } from 'commander'
import type { Config } from '../config.ts'
import { SANDBOX_WORKER } from '../dev-provider/mount.ts'
import { sampleMetadata } from '../dev-provider/sample-metadata.ts'
import type { AnsweredCall } from '../http/server/call-log.ts'
import { createLog } from '../log.ts'
import { readConfig } from '../read-config.ts'
import { startServer } from '../server.ts'
import { databaseName } from '../store/database-location.ts'
import { print, printJson } from './print.ts'
import { exitAfterLog, runUntilSignal, serverInfo } from './serve.ts'
import { inSingleQuotes, jsonOption, type Shell } from './shell.ts'

export function defineDev(command: Command, { environment }: Shell): void {
  command
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExamples:\n  $ gatepass dev\n  $ GATEPASS_PORT=8500 gatepass dev\n  $ gatepass dev --json',
    )
    .action(async ({ json }: { readonly json?: true }) => {
      const config = readConfig(environment, 'development')
      // with a level of their own, operators read the log by a program; else it shares the terminal with the calls
      const log = environment.GATEPASS_LOG_LEVEL
        ? createLog(config.logLevel)
        : createLog('warn', { as: 'text' })
      const server = await startServer(config, { log, onCall: showCall })
      const apiKey = server.apiKey ?? config.apiKey ?? ''
      if (json)
        printJson({
          ...serverInfo(config, 1),
          ...(server.apiKey !== undefined && { api_key: server.apiKey }),
        })
      else print(welcome(config, apiKey))
      await runUntilSignal(server, log)
      await exitAfterLog(log)
    })
}

/** Prints to standard error, so that standard output of `dev --json` stays machine-readable. */
function showCall({ method, path, status, outcome, ms }: AnsweredCall): void {
  process.stderr.write(`${method.padEnd(6)} ${path}  ${status} ${outcome}  ${ms} ms\n`)
}

/**
 * The commands that a newcomer pastes to try everything, the same at every start. The part from the first `echo` on is a
 * shell script without comments, which zsh refuses at its prompt, so that it can be pasted into bash and zsh as a whole.
 */
function welcome(config: Config, apiKey: string): string {
  const url = config.publicUrl.origin
  const metadata = inSingleQuotes(JSON.stringify(sampleMetadata(config.publicUrl)))
  const call = `curl -s -H "Authorization: Bearer $GATEPASS_API_KEY" -H 'content-type: application/json'`
  const execute = `${call} ${url}/v1/tools/execute -d '{"tool_name":"Sandbox_Profile","user_id":"ada"}'; echo`
  return `
Gatepass is running at ${url}   (database ${databaseName(config.database)}, development mode; Ctrl+C stops it)

The API is described at ${url}/docs. docs/guides/github.md has a real provider, GitHub, in ten minutes.
${config.dashboard.serve === 'on' ? `The console is ${url}/dashboard: log in with the API key below.\n` : ''}MCP clients are given ${url}/mcp, as ${url}/docs/mcp shows.
Each call is shown below. Paste this into another terminal, step by step or all at once:

echo '0. The URL and the API key, of an administrator of this installation'
export GATEPASS_URL=${url} GATEPASS_API_KEY=${inSingleQuotes(apiKey)}

echo '1. Import a tool: its oauth entry becomes a provider, and the worker of the sandbox runs it'
${call} '${url}/v1/tools/import?worker_id=${SANDBOX_WORKER}' -d ${metadata}; echo

echo '2. Run it for the user ada: without a connection the answer is requires_authorization with a link'
${execute}

echo '3. Open that link in a browser, click Continue and approve; the last line here does so without a browser'
ID=$(${call} ${url}/v1/tools/authorize -d '{"tool_name":"Sandbox_Profile","user_id":"ada"}' | sed 's/.*"id":"\\([^"]*\\)".*/\\1/'); case $ID in auth_*) echo "${url}/connect/$ID";; *) echo 'ada is connected already';; esac
case $ID in auth_*) NEXT=$(curl -s -L -c cookies.txt -b cookies.txt -o /dev/null -w '%{url_effective}' -d '' "${url}/connect/$ID"); curl -s -L -c cookies.txt -b cookies.txt -o /dev/null -d decision=allow "$NEXT"; rm -f cookies.txt;; esac

echo '4. Wait for it: this answers as soon as the user has approved'
${call} "${url}/v1/auth/status?id=$ID&wait=59"; echo

echo '5. Run the tool again: the token is injected, and the answer is the one of the tool'
${execute}
`
}
