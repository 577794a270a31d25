import { type Command, InvalidArgumentError } from 'commander'
import { isWorker, joinPrimary } from '../cluster/worker.ts'
import { type Config, readConfig } from '../config.ts'
import type { Log } from '../domain/log.ts'
import { createLog, type ServerLog } from '../log.ts'
import type { RunningServer } from '../server.ts'
import { CommandFailure } from './failure.ts'
import { printJson } from './print.ts'
import { jsonOption, type Shell } from './shell.ts'

const MOST_PROCESSES = 64

interface ServeOptions {
  readonly processes: number
  readonly json?: true
}

export function defineServe(command: Command, { environment }: Shell): void {
  command
    .option('--processes <n>', 'processes of this machine that serve together', parseProcesses, 1)
    .addOption(jsonOption())
    .addHelpText('after', SETTINGS_HELP)
    .action(async ({ processes, json }: ServeOptions) => {
      if (isWorker) return serveAsWorker()
      const config = readConfig(environment, 'serve')
      const log = createLog(config.logLevel)
      endOnBug(log)
      if (config.verifier.kind === 'open')
        log.warn(
          {},
          'GATEPASS_USER_VERIFIER is open: whoever opens a link completes it. Name your own page to be sure it is the user who was meant.',
        )
      const onServing = () => {
        const { host, port, publicUrl } = config
        log.info({ host, port, url: publicUrl.origin, processes }, 'gatepass is serving')
        if (json) printJson(served(config, processes))
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
        await untilStopped(server, log)
      }
      await leave(log)
    })
}

const SETTINGS_HELP = `
Needed:
  GATEPASS_MASTER_KEY      32 bytes in base64 (openssl rand -base64 32), or file:/path
  GATEPASS_USER_VERIFIER   the URL of your page that confirms users, or open
  GATEPASS_PUBLIC_URL      the origin that users and providers see
Often set: GATEPASS_HOST, GATEPASS_PORT, GATEPASS_DATABASE_URL, GATEPASS_API_KEY. All are in docs/settings.md.

SIGTERM ends it: what is under way is finished, for at most 25 seconds. docs/operation.md says more.

Examples:
  $ gatepass doctor --production && gatepass serve
  $ gatepass serve --processes 4
  $ GATEPASS_MASTER_KEY=file:/etc/gatepass/key GATEPASS_USER_VERIFIER=https://app.example.com/verify \\
    GATEPASS_PUBLIC_URL=https://gatepass.example.com gatepass serve`

/** What another program has to know of a server that it has started. */
export function served({ publicUrl, host, port }: Config, processes: number) {
  return { url: publicUrl.origin, host, port, pid: process.pid, processes }
}

/** Until SIGTERM or SIGINT; what is under way is finished first. A second signal ends it at once. */
export async function untilStopped(server: RunningServer, log: Log): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => {
        for (const again of ['SIGTERM', 'SIGINT'] as const) process.on(again, () => process.exit(1))
        resolve()
      })
  })
  await end(server, log)
}

/** Ends the process, whether or not somebody still reads its log. */
export async function leave(log: ServerLog): Promise<never> {
  await log.close()
  process.exit()
}

/** One of several: its settings are those that the primary has read. */
async function serveAsWorker(): Promise<void> {
  try {
    const primary = await joinPrimary()
    const { environment, number } = primary.settings
    const config = readConfig(environment, 'serve')
    const log = createLog(config.logLevel)
    endOnBug(log)
    const [{ startServer }, { ownFigures }] = await Promise.all([
      import('../server.ts'),
      import('../http/operation/metrics.ts'),
    ])
    const server = await startServer(config, {
      log,
      cluster: { keepsUp: number === 1, gather: primary.gather },
    })
    primary.answerWith(() => ownFigures(server.broker))
    primary.serving()
    await primary.ending
    await end(server, log)
    await primary.farewell(await ownFigures(server.broker))
    await leave(log)
  } finally {
    process.channel?.unref() // else it would stay for what the primary may say
  }
}

async function end(server: RunningServer, log: Log): Promise<void> {
  const begun = performance.now()
  log.info({}, 'ending')
  await server.close()
  log.info({ ms: Math.round(performance.now() - begun) }, 'ended')
}

/** What nobody catches is a bug whose extent nobody knows: it is told without its message, and the process ends. */
function endOnBug(log: ServerLog): void {
  process.once('uncaughtException', (error) => {
    log.error({ error }, 'something went wrong that nobody has caught; this process ends')
    void log.close().then(() => process.exit(1))
  })
}

function parseProcesses(text: string): number {
  const processes = Number(text)
  if (/^\d+$/.test(text) && processes >= 1 && processes <= MOST_PROCESSES) return processes
  throw new InvalidArgumentError(`Give a whole number from 1 to ${MOST_PROCESSES}.`)
}
