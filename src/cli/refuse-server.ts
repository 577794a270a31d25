import { serverOf } from './api.ts'
import { CommandFailure, EXIT } from './failure.ts'
import type { CommonOptions, Shell } from './shell.ts'

/** Throws `CommandFailure` if the user named a server for a command that works on the database only. `what`: `audit verify checks`. */
export function refuseServer(shell: Shell, options: CommonOptions, what: string): void {
  if (serverOf(shell, options) !== undefined)
    throw new CommandFailure(
      `${what} the database itself, not what a server says of it: run it where the database is, without GATEPASS_URL.`,
      EXIT.usage,
    )
}
