import type { Command } from 'commander'
import type { Shell } from './shell.ts'

/** Gives a command its arguments, options and action. */
export type DefineCommand = (command: Command, shell: Shell) => void

export interface CommandEntry {
  readonly name: string
  readonly description: string
  /** Loads the modules of this command only. */
  readonly load: () => Promise<DefineCommand>
  /** The command may read the whole database while servers run, so its process has a lower priority than theirs. */
  readonly isLong?: true
}
