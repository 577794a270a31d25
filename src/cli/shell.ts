import { InvalidArgumentError, Option } from 'commander'
import { DEFAULT_PROJECT } from '../domain/project.ts'

/** What commands are given of the world around them. */
export interface Shell {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The command that runs, such as `gatepass keys create`, for the audit trail. */
  readonly command?: string
}

/** The command did not do what was asked: exit code 1, with the message as one line on standard error. */
export class CommandFailure extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CommandFailure'
  }
}

export interface CommonOptions {
  readonly project: string
  readonly json?: true
}

export function projectOption(): Option {
  return new Option('--project <name>', 'the project').default(DEFAULT_PROJECT)
}

export function jsonOption(): Option {
  return new Option('--json', 'print JSON for other programs')
}

/** Reads `a,b c` as scopes are often written. */
export function parseScopes(text: string): string[] {
  const scopes = text.split(/[\s,]+/).filter(Boolean)
  if (scopes.length === 0) throw new InvalidArgumentError('Name at least one scope, such as repo,user.')
  return scopes
}

/** How a person types this command here: `gatepass …`, or in a checkout `npm run -s gatepass -- …`. */
export function typed({ environment }: Shell, ...words: readonly string[]): string {
  const gatepass = environment.npm_lifecycle_event === 'gatepass' ? 'npm run -s gatepass --' : 'gatepass'
  return [gatepass, ...words.map(quoted)].join(' ')
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
