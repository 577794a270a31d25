import { setFlagsFromString } from 'node:v8'
import { type Command, InvalidArgumentError } from 'commander'
import { isWorker, joinPrimary } from '../cluster/worker.ts'
import type { Config } from '../config.ts'
import type { Log } from '../domain/log.ts'
import { createLog, type ServerLog } from '../log.ts'
import { readConfig } from '../read-config.ts'
import type { RunningServer } from '../server.ts'
import { CommandFailure } from './failure.ts'
import { printJson } from './print.ts'
import { jsonOption, type Shell } from './shell.ts'

const MAX_PROCESSES = 64

interface ServeOptions {
  readonly processes: number
  readonly json?: true
}

export function defineServe(command: Command, shell: Shell): void {
  command
    .option('--processes <n>', 'how many processes serve together on this machine', parseProcesses, 1)
    .addOption(jsonOption())
    .addHelpText('after', SETTINGS_HELP)
    .action(async ({ processes, json }: ServeOptions) => {
      if (isWorker) return serveAsWorker()
      const { environment } = shell
      const config = readConfig(environment, 'serve')
      const log = createLog(config.logLevel)
      exitOnUncaughtException(log)
      if (config.verifier.kind === 'open')
        log.warn(
          {},
          'GATEPASS_USER_VERIFIER is open: anyone who opens a link can complete it. Set it to the URL of the page in your application that confirms users.',
        )
      const onServing = () => {
        letHeapGrow()
        const { host, port, publicUrl } = config
        log.info({ host, port, url: publicUrl.origin, processes }, 'gatepass is serving')
        if (json) printJson(serverInfo(config, processes))
      }
      // the server's modules are loaded only now, so that a wrong setting is reported at once
      if (processes > 1) {
        const { runPrimary, WorkersFailed } = await import('../cluster/primary.ts')
        await runPrimary({ processes, config, environment, log, onServing }).catch((error: unknown) => {
          throw error instanceof WorkersFailed ? new CommandFailure(error.message) : error
        })
      } else {
        const { startServer } = await import('../server.ts')
        const server = await startServer(config, { log })
        onServing()
        await runUntilSignal(server, log)
      }
      await exitAfterLog(log)
    })
}

const SETTINGS_HELP = `
Needed:
  GATEPASS_MASTER_KEY      32 bytes in base64 (openssl rand -base64 32), or file:/path
  GATEPASS_USER_VERIFIER   the URL of your page that confirms users, or open
  GATEPASS_PUBLIC_URL      the origin that users and providers see
Often set: GATEPASS_HOST, GATEPASS_PORT, GATEPASS_DATABASE_URL, GATEPASS_API_KEY. All are in docs/reference/settings.md.

SIGTERM shuts it down. Running requests have up to 25 seconds to finish. docs/operate/operation.md says more.

Examples:
  $ gatepass doctor --production && gatepass serve
  $ gatepass serve --processes 4
  $ GATEPASS_MASTER_KEY=file:/etc/gatepass/key GATEPASS_USER_VERIFIER=https://app.example.com/verify \\
    GATEPASS_PUBLIC_URL=https://gatepass.example.com gatepass serve`

/** Facts about the server for the program that started it. */
export function serverInfo({ publicUrl, host, port }: Config, processes: number) {
  return { url: publicUrl.origin, host, port, pid: process.pid, processes }
}

/** Waits for SIGTERM or SIGINT, then shuts the server down gracefully. A second signal ends the process at once. */
export async function runUntilSignal(server: Pick<RunningServer, 'close'>, log: Log): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => {
        for (const again of ['SIGTERM', 'SIGINT'] as const) process.on(again, () => process.exit(1))
        resolve()
      })
  })
  await stop(server, log)
}

/** Ends the process after its log was written; a blocked reader of the log delays the end by at most a second. */
export async function exitAfterLog(log: ServerLog): Promise<never> {
  await log.close()
  process.exit()
}

/** Serves as one of several processes, with the settings that the primary process sends. */
async function serveAsWorker(): Promise<void> {
  try {
    const primary = await joinPrimary()
    const { environment, number } = primary.settings
    const config = readConfig(environment, 'serve')
    const log = createLog(config.logLevel)
    exitOnUncaughtException(log)
    const [{ startServer }, { ownMetrics }] = await Promise.all([
      import('../server.ts'),
      import('../operations/installation/metrics.ts'),
    ])
    const server = await startServer(config, {
      log,
      cluster: { runsSharedJobs: number === 1, gather: primary.gather },
    })
    primary.answerWith(() => ownMetrics(server.broker))
    letHeapGrow()
    primary.serving()
    await primary.shutdown
    await stop(server, log)
    await primary.sendFinalMetrics(await ownMetrics(server.broker))
    await exitAfterLog(log)
  } finally {
    process.channel?.unref() // otherwise the open channel would keep the process alive
  }
}

/** Ends what `bin/gatepass.js` sets for the start: from now on the young generation grows as in any process. */
function letHeapGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2') // V8's default
}

async function stop(server: Pick<RunningServer, 'close'>, log: Log): Promise<void> {
  const begun = performance.now()
  log.info({}, 'ending')
  await server.close()
  log.info({ ms: Math.round(performance.now() - begun) }, 'ended')
}

/** Logs an uncaught exception without its message, which may hold secrets. Ends the process, whose state is unknown. */
function exitOnUncaughtException(log: ServerLog): void {
  process.once('uncaughtException', (error) => {
    log.error({ error }, 'uncaught error; this process ends')
    void log.close().then(() => process.exit(1))
  })
}

function parseProcesses(text: string): number {
  const processes = Number(text)
  if (/^\d+$/.test(text) && processes >= 1 && processes <= MAX_PROCESSES) return processes
  throw new InvalidArgumentError(`Give a whole number from 1 to ${MAX_PROCESSES}.`)
}
