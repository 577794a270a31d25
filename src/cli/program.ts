import { Command, CommanderError } from 'commander'
import { ConfigError } from '../config.ts'
import { BrokerError } from '../domain/errors.ts'
import { version } from '../version.ts'
import { addDev } from './dev.ts'
import { addServe } from './serve.ts'

/** What commands are given of the world around them. */
export interface Shell {
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Runs one command and answers its exit code: 0, or 1 with one clear line on standard error. */
export async function runProgram(argv: readonly string[], shell: Shell): Promise<number> {
  const program = new Command('gatepass')
    .description('An OAuth authorization broker for tools.')
    .version(version)
    .showHelpAfterError('(gatepass --help lists the commands)')
    .exitOverride()
  addDev(program, shell)
  addServe(program, shell)
  try {
    await program.parseAsync(argv)
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    process.stderr.write(`${messageOf(error)}\n`)
    return 1
  }
}

function messageOf(error: unknown): string {
  if (error instanceof ConfigError || error instanceof BrokerError) return error.message
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
    return 'The address is in use already: another Gatepass may be running. Set GATEPASS_PORT to use another port.'
  return error instanceof Error ? `Something went wrong: ${error.stack ?? error.message}` : String(error)
}
