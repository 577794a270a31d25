import { serverOf } from './api.ts'
import { CommandFailure, EXIT } from './failure.ts'
import type { CommonOptions, Shell } from './shell.ts'

/** Throws `CommandFailure` if the user named a server for a command that works on the database only. */
export function refuseServer(shell: Shell, options: CommonOptions, command: string): void {
  if (serverOf(shell, options) !== undefined)
    throw new CommandFailure(
      `${command} works on the database itself, not through a server. Run it where the database is, without GATEPASS_URL.`,
      EXIT.usage,
    )
}
