import { Command, CommanderError } from 'commander'
import { ConfigError } from '../config-error.ts'
import { BrokerError } from '../domain/errors.ts'
import { withSecretFiles } from '../settings/secret-files.ts'
import { version } from '../version.ts'
import { COMMANDS } from './commands.ts'
import { CommandFailure, EXIT, exitCodeOfError } from './failure.ts'
import type { Shell } from './shell.ts'

/** Runs one command and returns its exit code (`EXIT`); a failure is one line on standard error. */
export async function runProgram(
  argv: readonly string[],
  given: Pick<Shell, 'environment'>,
): Promise<number> {
  let command = 'gatepass'
  let environment: Shell['environment'] | undefined
  const shell: Shell = {
    // secret files are read when a command needs its settings; `--help` does not, nor does a worker process of `serve`
    get environment() {
      environment ??= withSecretFiles(given.environment)
      return environment
    },
    get command() {
      return command
    },
    async withLocalTransport(...args) {
      const local = await import('./local-transport.ts')
      return local.withLocalTransport(...args)
    },
    async withCatalogueTransport(...args) {
      const catalogue = await import('./catalogue-transport.ts')
      return catalogue.withCatalogueTransport(...args)
    },
    async startSimulated(...args) {
      const simulated = await import('./start-simulated.ts')
      return simulated.startSimulated(...args)
    },
    async withBroker(...args) {
      const local = await import('./with-broker.ts')
      return local.withBroker(...args)
    },
  }
  const program = new Command('gatepass')
    .description('An OAuth authorization broker for tools.')
    .version(version)
    .showHelpAfterError('(add --help to see how to use it)')
    .exitOverride()
    .addHelpText('after', EXAMPLES)
    .hook('preAction', (_, running) => {
      command = [...ancestors(running), running].map((called) => called.name()).join(' ')
    })
  try {
    const [first, second] = argv.slice(2)
    for (const { name, description, load } of COMMANDS) {
      const added = program.command(name).description(description)
      if (name === first || (first === 'help' && name === second)) (await load())(added, shell)
    }
    await program.parseAsync(argv)
    return EXIT.done
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    process.stderr.write(`${messageOf(error)}\n`)
    return exitCodeOfError(error)
  }
}

function ancestors({ parent }: Command): Command[] {
  return parent === null ? [] : [...ancestors(parent), parent]
}

const EXAMPLES = `
Examples:
  $ gatepass dev                                      everything in one process, to try it out
  $ gatepass import ./tools                           the tools, and the providers they need
  $ gatepass connect github --user ada                ask ada for consent
  $ gatepass token github --user ada                  ada's access token
  $ gatepass tools --url https://gatepass.example.com --key "$GATEPASS_API_KEY"     the API of a server, without its database
  $ gatepass doctor                                   what is wrong, and how to fix it

Exit codes: 0 done, 1 failed, 2 wrong usage or settings, 3 not found, 4 refused (key, role, policy),
5 the user must approve first, 6 unreachable (server, database or provider).
In a checkout: npm run -s gatepass -- <command>`

function messageOf(error: unknown): string {
  if (error instanceof ConfigError && error.faults.length === 1) return error.faults.join()
  if (error instanceof ConfigError || error instanceof BrokerError || error instanceof CommandFailure)
    return error.message
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
    return 'The address is already in use: another Gatepass may be running. Set GATEPASS_PORT to use another port.'
  if (
    error instanceof Error &&
    'syscall' in error &&
    ['listen', 'getaddrinfo'].includes(String(error.syscall))
  )
    return `It cannot listen there (${error.message}). Check GATEPASS_HOST and GATEPASS_PORT.`
  return error instanceof Error ? `Something went wrong: ${error.stack ?? error.message}` : String(error)
}
