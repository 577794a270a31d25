import type { Command } from 'commander'
import { type Config, readConfig } from '../config.ts'
import { createLog } from '../log.ts'
import { SANDBOX_WORKER } from '../sandbox/mount.ts'
import { sampleMetadata } from '../sandbox/sample-metadata.ts'
import { startServer } from '../server.ts'
import { databaseName } from '../store/database-place.ts'
import { printJson } from './print.ts'
import { leave, served, untilStopped } from './serve.ts'
import { jsonOption, type Shell } from './shell.ts'

export function addDev(program: Command, { environment }: Shell): void {
  program
    .command('dev')
    .description(
      'run in development: a SQLite file, a sandbox provider and a sample tool, and what to do next',
    )
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExamples:\n  $ gatepass dev\n  $ GATEPASS_PORT=8500 gatepass dev\n  $ gatepass dev --json',
    )
    .action(async ({ json }: { readonly json?: true }) => {
      const config = readConfig(environment, 'development')
      const log = createLog(environment.GATEPASS_LOG_LEVEL ? config.logLevel : 'warn')
      const server = await startServer(config, { log })
      if (json)
        printJson({
          ...served(config, 1),
          ...(server.newApiKey !== undefined && { api_key: server.newApiKey }),
        })
      else process.stdout.write(welcome(config, server.newApiKey))
      await untilStopped(server, log)
      await leave(log)
    })
}

/** What a newcomer pastes, step by step: the whole main job. */
function welcome(config: Config, newApiKey: string | undefined): string {
  const url = config.publicUrl.origin
  const metadata = JSON.stringify(sampleMetadata(config.publicUrl)).replaceAll("'", "'\\''")
  const json = "-H 'content-type: application/json'"
  const key = newApiKey ?? config.apiKey
  const call = `curl -s -H "Authorization: Bearer $KEY" ${json}`
  const execute = `${call} ${url}/v1/tools/execute -d '{"tool_name":"Sandbox Profile","user_id":"ada"}'; echo`
  return `
Gatepass is running at ${url}   (database ${databaseName(config.database)}, development mode; Ctrl+C stops it)

${newApiKey === undefined ? 'Use the API key that the first start printed, or make one: npm run gatepass -- keys create --role admin' : `An administrator's API key, shown this once:\n\n  ${newApiKey}`}

Paste these into another terminal, one after the other:

# 0. the key
KEY=${key ?? '<your API key>'}

# 1. import a tool: its oauth entry becomes a provider, and the sandbox's worker runs it
${call} '${url}/v1/tools/import?worker_id=${SANDBOX_WORKER}' -d '${metadata}'; echo

# 2. run it for the user "ada": no connection yet, so the answer is requires_authorization with a link
${execute}

# 3. open that link in a browser, click Continue, approve
ID=$(${call} ${url}/v1/tools/authorize -d '{"tool_name":"Sandbox Profile","user_id":"ada"}' | sed 's/.*"id":"\\([^"]*\\)".*/\\1/'); echo "open ${url}/connect/$ID"

# (without a browser at hand, curl clicks and approves as well)
NEXT=$(curl -s -L -c cookies.txt -b cookies.txt -o /dev/null -w '%{url_effective}' -d '' ${url}/connect/$ID); curl -s -L -c cookies.txt -b cookies.txt -o /dev/null -d decision=allow "$NEXT"; rm cookies.txt

# 4. wait for it: answers as soon as the user has approved
${call} "${url}/v1/auth/status?id=$ID&wait=59"; echo

# 5. run the tool again: the token is injected, the answer is the tool's
${execute}

More: ${url}/docs (the API), README.md (a real provider such as GitHub in ten minutes).

`
}
