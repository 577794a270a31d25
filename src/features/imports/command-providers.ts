import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { CommandFailure, EXIT } from '../../cli/failure.ts'
import { bold, dim, MARKS, print, printJson, quantity, sanitize, table } from '../../cli/print.ts'
import { readTextFile } from '../../cli/read-json-file.ts'
import { jsonOption, parseId, type Shell } from '../../cli/shell.ts'
import { systemClock } from '../../domain/clock.ts'
import { createOutgoing, type Outgoing, OutgoingError } from '../../egress/outgoing.ts'
import { createDiscovery } from '../../providers/discovery.ts'
import { ProviderRefusal } from '../../providers/provider-refusal.ts'
import { countNotes, type ImportedProvider } from './definitions/imported.ts'
import { importIssuer } from './definitions/issuer.ts'
import { importMcpServer } from './definitions/mcp-server.ts'
import { type DocumentSource, importDocument } from './definitions/read-document.ts'

const SOURCES = ['nango', 'grant', 'arcade', 'issuer', 'mcp'] as const
type Source = (typeof SOURCES)[number]

interface ImportProvidersOptions {
  readonly from?: Source
  readonly to?: string
  readonly only?: readonly string[]
  readonly dryRun?: true
  readonly force?: true
  readonly verbose?: true
  readonly json?: true
}

interface Imported {
  readonly source: Source
  readonly items: readonly ImportedProvider[]
}

const MAX_BYTES = 16 * 1024 * 1024
/** Above this number of providers the report counts reasons, and only `--verbose` prints a line for each provider. */
const MOST_LISTED = 30

export function defineProvidersImport(command: Command, shell: Shell): void {
  command
    .argument(
      '<source>',
      'a file, - for standard input, or the URL of a document, an issuer or an MCP server',
      parseId,
    )
    .addOption(
      new Option('--from <product>', 'the kind of source, if it cannot be told from the content').choices(
        SOURCES,
      ),
    )
    .option(
      '--to <directory>',
      'where the definitions are written, one file each, for GATEPASS_PROVIDERS',
      parseId,
    )
    .option('--only <names>', 'only these providers, comma-separated', (text: string) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
    )
    .option('--dry-run', 'write nothing')
    .option('--force', 'replace files that exist')
    .option('--verbose', 'print a line for every provider and for every member that was left out')
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (source: string, options: ImportProvidersOptions) => {
      const imported = selectNamed(await read(source, options, shell), options.only)
      const files = write(imported.items, options)
      if (options.json) printJson({ ...imported, counts: countsOf(imported.items), files })
      else report(imported, files, options)
      if (imported.items.every(({ definition }) => definition === undefined))
        throw new CommandFailure('No definition could be made from the source. The reasons are above.')
    })
}

async function read(source: string, { from }: ImportProvidersOptions, shell: Shell): Promise<Imported> {
  const url = /^https?:\/\//i.test(source) && URL.canParse(source) ? new URL(source) : undefined
  if (url === undefined) {
    if (from === 'issuer' || from === 'mcp')
      throw new CommandFailure(
        `--from ${from} goes with a URL, such as https://${from}.example.com.`,
        EXIT.usage,
      )
    return importDocument(await readTextFile(source), { from })
  }
  const outgoing = outgoingOf(shell)
  try {
    if (from === 'issuer' || from === 'mcp') return await readServer(outgoing, url, source, from)
    if (from !== undefined || /\.(?:json|ya?ml)$/i.test(url.pathname))
      return importDocument(await fetchText(outgoing, url), { from: from as DocumentSource | undefined })
    return await readServer(outgoing, url, source, undefined)
  } catch (error) {
    if (error instanceof ProviderRefusal)
      throw new CommandFailure(
        error.message,
        error.reason === 'provider_unavailable' ? EXIT.unreachable : EXIT.failed,
      )
    if (error instanceof OutgoingError) throw new CommandFailure(error.message, EXIT.unreachable)
    throw error
  } finally {
    await outgoing.close()
  }
}

/**
 * Reads the metadata of an issuer, or of the authorization server that an MCP server names (RFC 9728). Without `from`,
 * `url` is tried as an issuer first. `issuer` is the URL as the operator wrote it: `URL` could add a slash.
 */
async function readServer(
  outgoing: Outgoing,
  url: URL,
  issuer: string,
  from: 'issuer' | 'mcp' | undefined,
): Promise<Imported> {
  const discover = createDiscovery(outgoing, systemClock)
  const options = { allowsHttp: (one: URL) => outgoing.allows(one) }
  const fromIssuer = async (): Promise<Imported> => ({
    source: 'issuer',
    items: [await importIssuer(discover, issuer, options)],
  })
  const fromMcpServer = async (): Promise<Imported> => ({
    source: 'mcp',
    items: [await importMcpServer({ outgoing, discover }, url, options)],
  })
  if (from !== undefined) return from === 'issuer' ? fromIssuer() : fromMcpServer()
  try {
    return await fromIssuer()
  } catch (error) {
    if (!(error instanceof ProviderRefusal) || error.reason === 'provider_unavailable') throw error
    return fromMcpServer()
  }
}

function outgoingOf({ environment }: Shell): Outgoing {
  const allowedHosts = (environment.GATEPASS_ALLOWED_HOSTS ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
  try {
    return createOutgoing({ allowedHosts })
  } catch (error) {
    if (error instanceof RangeError)
      throw new CommandFailure(`GATEPASS_ALLOWED_HOSTS: ${error.message}`, EXIT.usage)
    throw error
  }
}

async function fetchText(outgoing: Outgoing, url: URL): Promise<string> {
  const { status, body } = await outgoing.send({ url, purpose: 'discovery', maxBytes: MAX_BYTES })
  if (status !== 200) throw new CommandFailure(`${url.host} answers with status ${status}.`, EXIT.notFound)
  return Buffer.from(body).toString('utf8')
}

function selectNamed({ source, items }: Imported, names: readonly string[] | undefined): Imported {
  if (names === undefined) return { source, items }
  const unknown = names.filter((name) => !items.some((item) => item.name === name))
  if (unknown.length > 0)
    throw new CommandFailure(
      `The source has no provider ${unknown.map((name) => `"${name}"`).join(', ')}.`,
      EXIT.notFound,
    )
  return { source, items: items.filter(({ name }) => names.includes(name)) }
}

interface WrittenFile {
  readonly path: string
  readonly result: 'written' | 'exists' | 'not written'
}

function write(
  items: readonly ImportedProvider[],
  { to, dryRun, force }: ImportProvidersOptions,
): readonly WrittenFile[] {
  if (to === undefined) return []
  if (dryRun !== true) makeFolder(to)
  return items.flatMap(({ definition }): WrittenFile[] => {
    if (definition === undefined) return []
    const path = join(to, `${definition.id}.json`)
    if (dryRun === true) return [{ path, result: 'not written' }]
    try {
      writeFileSync(path, `${JSON.stringify(definition, null, 2)}\n`, { flag: force === true ? 'w' : 'wx' })
      return [{ path, result: 'written' }]
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
        return [{ path, result: 'exists' }]
      throw new CommandFailure(`The file "${path}" cannot be written (${whyOf(error)}).`)
    }
  })
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true })
  } catch (error) {
    throw new CommandFailure(`The folder "${path}" cannot be created (${whyOf(error)}).`)
  }
}

function whyOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function countsOf(items: readonly ImportedProvider[]) {
  const count = (carried: ImportedProvider['carried']) =>
    items.filter((item) => item.carried === carried).length
  return { all: items.length, whole: count('whole'), part: count('part'), none: count('none') }
}

const CARRIED_MARKS = { whole: MARKS.ok, part: MARKS.warning, none: MARKS.failed } as const

function report(
  { source, items }: Imported,
  files: readonly WrittenFile[],
  options: ImportProvidersOptions,
): void {
  if (options.verbose === true || items.length <= MOST_LISTED)
    for (const { name, carried, notes } of items) {
      print(
        `${CARRIED_MARKS[carried]} ${sanitize(name)}${carried === 'none' ? '' : dim(`  carried over ${inWords(carried)}`)}`,
      )
      for (const { member, reason } of notes)
        print(`    ${member === '' ? '' : `${sanitize(member)}: `}${sanitize(reason)}`)
    }
  const { all, whole, part, none } = countsOf(items)
  print(`\n${bold(`${all} of ${source}`)}: ${whole} carried over whole, ${part} in part, ${none} not at all`)
  if (items.length > MOST_LISTED) {
    printReasons(
      'Not carried over',
      items.filter(({ carried }) => carried === 'none'),
    )
    printReasons(
      'Left out of those carried over in part',
      items.filter(({ carried }) => carried === 'part'),
    )
    if (options.verbose !== true) print(dim('--verbose names each provider. --json has everything.'))
  }
  const written = files.filter(({ result }) => result === 'written').length
  const existing = files.filter(({ result }) => result === 'exists')
  if (files.length > 0) print(`${quantity(written, 'file')} written to ${sanitize(options.to ?? '')}.`)
  if (existing.length > 0)
    print(
      `${MARKS.warning} ${existing.length} already exist and were not changed (--force replaces them): ${existing
        .slice(0, 5)
        .map(({ path }) => sanitize(path))
        .join(', ')}${existing.length > 5 ? ', …' : ''}`,
    )
  if (options.dryRun === true) print('This was a dry run: nothing was written.')
  else if (options.to === undefined) print('Nothing was written: --to <directory> writes the definitions.')
}

function inWords(carried: 'whole' | 'part'): string {
  return carried === 'whole' ? 'whole' : 'in part, without'
}

function printReasons(title: string, items: readonly ImportedProvider[]): void {
  const rows = countNotes(items).map(({ reason, count }) => [String(count), reason])
  if (rows.length > 0) print(`\n${bold(title)}\n${table(['providers', 'reason'], rows)}`)
}

const EXAMPLES = `
Examples:
  $ gatepass providers import providers.yaml --to ./providers --only zendesk,hubspot
  $ gatepass providers import oauth.json --from grant --json
  $ gatepass providers import engine.yaml --dry-run
  $ gatepass providers import https://accounts.example.com --to ./providers
  $ gatepass providers import https://mcp.example.com/mcp --to ./providers

Definitions are written without a client: GATEPASS_PROVIDERS=./providers makes them known, and
\`gatepass providers add <id>\` sets the client. Nothing is guessed: what a definition cannot express is left out and reported.`
