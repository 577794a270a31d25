import { type Command, InvalidArgumentError, Option } from 'commander'
import { DEFAULT_PROJECT } from '../domain/project.ts'

/** What commands are given of the world around them. */
export interface Shell {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The command that runs, such as `gatepass keys create`, for the audit trail. */
  readonly command?: string
}

/** Of every command that administers: which installation and project, and how it prints. */
export interface CommonOptions {
  readonly project?: string
  readonly url?: string
  readonly key?: string
  readonly json?: true
}

export function projectOption(): Option {
  return new Option('--project <name>', `the project (default: "${DEFAULT_PROJECT}")`).argParser(parseId)
}

export function jsonOption(): Option {
  return new Option('--json', 'print JSON for other programs')
}

/** The options of a command that works through a server's API (`--url`) or on the database itself. */
export function withCommonOptions(command: Command): Command {
  return command
    .option('--url <url>', 'ask the server there instead of opening the database; else GATEPASS_URL')
    .option('--key <key>', 'the API key for --url, which also chooses the project; else GATEPASS_API_KEY')
    .addOption(projectOption())
    .addOption(jsonOption())
}

/** Reads `a,b c` as scopes are often written. */
export function parseScopes(text: string): string[] {
  const scopes = text.split(/[\s,]+/).filter(Boolean)
  if (scopes.length === 0) throw new InvalidArgumentError('Name at least one scope, such as repo,user.')
  return scopes
}

/** An empty id is nearly always an unset shell variable. */
export function parseId(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It is empty.')
  return text
}

export function parseCount(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Write a whole number.')
  return Number(text)
}

/** How npm was asked to run this process, if it was, and what a person types for the same. */
const BY_NPM: Readonly<Record<string, string>> = {
  gatepass: 'npm run -s gatepass --',
  start: 'npm run -s gatepass --',
  npx: 'npx gatepass',
}

/** How a person types this command here: `gatepass …`, `npx gatepass …` or, in a checkout, by npm's scripts. */
export function typed({ environment }: Shell, ...words: readonly string[]): string {
  const gatepass = BY_NPM[environment.npm_lifecycle_event ?? ''] ?? 'gatepass'
  return [gatepass, ...words.map(quoted)].join(' ')
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
