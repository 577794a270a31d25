import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { createLog } from '../log.ts'
import { type RunningServer, startServer } from '../server.ts'
import type { Shell } from './shell.ts'

export function addServe(program: Command, { environment }: Shell): void {
  program
    .command('serve')
    .description('run in production; every setting that decides its safety must be there')
    .addHelpText('after', SETTINGS_HELP)
    .action(async () => {
      const config = readConfig(environment, 'serve')
      const log = createLog(config.logLevel)
      if (config.verifier.kind === 'open')
        log.warn(
          {},
          'GATEPASS_USER_VERIFIER is open: whoever opens a link completes it. Name your own page to be sure it is the user who was meant.',
        )
      const server = await startServer(config, { log })
      log.info({ host: config.host, port: config.port, url: config.publicUrl.origin }, 'gatepass is serving')
      await untilStopped(server)
    })
}

const SETTINGS_HELP = `
Needed:
  GATEPASS_MASTER_KEY      32 bytes in base64 (openssl rand -base64 32), or file:/path
  GATEPASS_USER_VERIFIER   the URL of your page that confirms users, or open
  GATEPASS_PUBLIC_URL      the origin that users and providers see
Often set: GATEPASS_HOST, GATEPASS_PORT, GATEPASS_DATABASE_URL, GATEPASS_API_KEY. All are in docs/settings.md.

Examples:
  $ gatepass doctor --production && gatepass serve
  $ GATEPASS_MASTER_KEY=file:/etc/gatepass/key GATEPASS_USER_VERIFIER=https://app.example.com/verify \\
    GATEPASS_PUBLIC_URL=https://gatepass.example.com gatepass serve`

/** Until SIGTERM or SIGINT; what is under way is finished first. A second signal ends it at once. */
export async function untilStopped(server: RunningServer): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => {
        process.once(signal, () => process.exit(1))
        resolve()
      })
  })
  await server.close()
}
