import { Command, CommanderError } from 'commander'
import { ConfigError } from '../config.ts'
import { BrokerError } from '../domain/errors.ts'
import { version } from '../version.ts'
import { addAudit } from './audit.ts'
import { addBackup } from './backup.ts'
import { addConnect } from './connect.ts'
import { addConnections } from './connections.ts'
import { addDev } from './dev.ts'
import { addDoctor } from './doctor.ts'
import { addImport } from './import.ts'
import { addKeys } from './keys.ts'
import { addMigrate } from './migrate.ts'
import { addPolicies } from './policies.ts'
import { addRotateKey } from './rotate-key.ts'
import { addServe } from './serve.ts'
import { CommandFailure, type Shell } from './shell.ts'
import { addToken } from './token.ts'

/** Runs one command and answers its exit code: 0, or 1 with one clear line on standard error. */
export async function runProgram(argv: readonly string[], { environment }: Shell): Promise<number> {
  let command = 'gatepass'
  const shell: Shell = {
    environment,
    get command() {
      return command
    },
  }
  const program = new Command('gatepass')
    .description('An OAuth authorization broker for tools.')
    .version(version)
    .showHelpAfterError('(add --help to see how it is used)')
    .exitOverride()
    .addHelpText('after', EXAMPLES)
    .hook('preAction', (_, running) => {
      command = [...ancestors(running), running].map((one) => one.name()).join(' ')
    })
  addDev(program, shell)
  addServe(program, shell)
  addImport(program, shell)
  addConnect(program, shell)
  addToken(program, shell)
  addConnections(program, shell)
  addKeys(program, shell)
  addPolicies(program, shell)
  addAudit(program, shell)
  addDoctor(program, shell)
  addRotateKey(program, shell)
  addBackup(program, shell)
  addMigrate(program, shell)
  try {
    await program.parseAsync(argv)
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    process.stderr.write(`${messageOf(error)}\n`)
    return 1
  }
}

function ancestors({ parent }: Command): Command[] {
  return parent === null ? [] : [...ancestors(parent), parent]
}

const EXAMPLES = `
Examples:
  $ gatepass dev                                      everything at once, to look at
  $ gatepass import ./tools                           what tools there are, and which providers they need
  $ gatepass connect github --user ada                ask ada for consent
  $ gatepass token github --user ada                  ada's access token
  $ gatepass doctor                                   what is wrong, and how to put it right

In a checkout: npm run -s gatepass -- <command>`

function messageOf(error: unknown): string {
  if (error instanceof ConfigError && error.faults.length === 1) return error.faults.join()
  if (error instanceof ConfigError || error instanceof BrokerError || error instanceof CommandFailure)
    return error.message
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
    return 'The address is in use already: another Gatepass may be running. Set GATEPASS_PORT to use another port.'
  if (
    error instanceof Error &&
    'syscall' in error &&
    ['listen', 'getaddrinfo'].includes(String(error.syscall))
  )
    return `It cannot listen there (${error.message}). Check GATEPASS_HOST and GATEPASS_PORT.`
  return error instanceof Error ? `Something went wrong: ${error.stack ?? error.message}` : String(error)
}
