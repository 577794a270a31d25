import { type Command, InvalidArgumentError, Option } from 'commander'
import { DEFAULT_PROJECT } from '../domain/project.ts'
import type { LocalInstallation, OpenOptions } from './installation.ts'
import type { StartSimulated } from './simulated-server.ts'
import type { Transport } from './transport.ts'

/**
 * The environment in which a command runs. What opens a database is given to commands, because it loads the features, and
 * features have commands.
 */
export interface Shell {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The running command, such as `gatepass keys create`, for the audit trail. */
  readonly command?: string
  /** Runs `run` with the API in this process, on the database itself. */
  readonly withLocalTransport: (
    shell: Shell,
    options: OpenApiOptions,
    run: (transport: Transport) => Promise<void>,
  ) => Promise<void>
  /** Runs `run` with the catalogue's part of the API, on files alone. */
  readonly withCatalogueTransport: (
    shell: Shell,
    run: (transport: Transport) => Promise<void>,
  ) => Promise<void>
  /** Starts a server of development whose services are simulated. */
  readonly startSimulated: StartSimulated
  /** Opens the database and the project of the options. */
  readonly withBroker: (
    shell: Shell,
    options: OpenOptions,
    run: (opened: LocalInstallation) => Promise<void>,
  ) => Promise<void>
}

/** The database of the settings, for commands that need no other setting. */
export function databaseUrlOf({ environment }: Shell): string {
  return environment.GATEPASS_DATABASE_URL?.trim() || 'file:gatepass.db' // empty means the default, as for a server
}

/** The options of every administration command: which installation and project, and the output format. */
export interface CommonOptions {
  readonly project?: string
  readonly url?: string
  readonly key?: string
  readonly json?: true
}

export type OpenApiOptions = CommonOptions & Pick<OpenOptions, 'creates'>

export function projectOption(): Option {
  return new Option('--project <name>', `the project (default: "${DEFAULT_PROJECT}")`).argParser(parseId)
}

export function jsonOption(): Option {
  return new Option('--json', 'print JSON for other programs')
}

/** The options of a command that works through a server's API (`--url`) or on the database itself. */
export function withCommonOptions(command: Command): Command {
  return command
    .option('--url <url>', 'use the API of this server instead of the database (default: GATEPASS_URL)')
    .option(
      '--key <key>',
      'the API key for --url, which also chooses the project (default: GATEPASS_API_KEY)',
    )
    .addOption(projectOption())
    .addOption(jsonOption())
}

/** Names (scopes, rights, ids) separated by commas or spaces. */
export function parseNames(text: string): string[] {
  const names = text.split(/[\s,]+/).filter(Boolean)
  if (names.length === 0) throw new InvalidArgumentError('Give at least one. Separate several with commas.')
  return names
}

/** Refuses an empty id, which is nearly always an unset shell variable. */
export function parseId(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It is empty.')
  return text
}

export function parseWholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Give a whole number.')
  return Number(text)
}

/** The command that a user types, by the name of npm's running script. */
const BY_NPM: Readonly<Record<string, string>> = {
  gatepass: 'npm run -s gatepass --',
  start: 'npm run -s gatepass --',
  npx: 'npx gatepass',
}

/** The command line that a user types here: `gatepass …`, `npx gatepass …` or, in a checkout, npm's script. */
export function commandLine({ environment }: Shell, ...words: readonly string[]): string {
  const gatepass = BY_NPM[environment.npm_lifecycle_event ?? ''] ?? 'gatepass'
  return [gatepass, ...words.map(quoted)].join(' ')
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : inSingleQuotes(word)
}

/** Any text as one word of a POSIX shell, which expands nothing in it. */
export function inSingleQuotes(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** A time as a timestamp of the API. */
export function parseMoment(text: string): string {
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw new InvalidArgumentError('Write a time like 2026-11-21T08:00:00Z.')
  return new Date(at).toISOString()
}
