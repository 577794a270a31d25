import { type Command, InvalidArgumentError } from 'commander'
import { type Api, withApi } from '../../cli/api.ts'
import { CommandFailure, EXIT } from '../../cli/failure.ts'
import { bold, dim, MARKS, print, printJson, sanitize, table } from '../../cli/print.ts'
import { readTextFile } from '../../cli/read-json-file.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from '../../cli/shell.ts'
import type { ForeignConnection, ImportedConnection } from '../../sdk/generated/wire.ts'
import { readExportKey } from './command-export-key.ts'
import { readRows, type SourceRow } from './command-rows.ts'
import { ExportFault } from './encrypted-rows.ts'

interface ImportOptions extends CommonOptions {
  /** `name=id` each. */
  readonly provider?: readonly string[]
  readonly replace?: true
  readonly check?: true
  readonly keyFile?: string
}

/** The result for one row, from the API or from the reader of the file. */
type Result = Omit<ImportedConnection, 'index'> & { readonly line: number }

const PAGE = 500
/** A page of more bytes is sent before it has all rows: half of what the API takes. */
const PAGE_BYTES = 4 * 1024 * 1024
const CHECKED_PAGE = 20
const DEADLINE_MS = 300_000
const SHOWN = 20

export function defineConnectionsImport(command: Command, shell: Shell): void {
  withCommonOptions(command.argument('<file>', 'the file, or - for standard input', parseId))
    .option(
      '--provider <name=id>',
      'the provider entry for a name in the file, such as google-mail=google (may be repeated)',
      (text: string, before: readonly string[] = []) => [...before, parseMapping(text)],
    )
    .option('--replace', 'replace connections of the same user, provider and account')
    .option('--check', 'refresh each connection once')
    .option(
      '--key-file <path>',
      'the key of a Gatepass export that was not encrypted with a passphrase',
      parseId,
    )
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, options: ImportOptions) => {
      const text = await readTextFile(file)
      return withApi(shell, options, async (api) => {
        const kept = await keptNames(api)
        const { format, rows } = readRows(text, {
          providers: new Map((options.provider ?? []).map((mapping) => splitMapping(mapping))),
          keptNames: (id) => kept.get(id) ?? new Map(),
          exportKey: () => readExportKey(options.keyFile),
        })
        const results = await importAll(api, rows, options)
        if (options.json) printJson({ format, counts: countsOf(results), items: results })
        else report(format, results)
        if (results.some(({ result }) => result === 'refused'))
          throw new CommandFailure(
            'Some rows were refused. The others are stored, and a second run skips them.',
          )
      })
    })
}

async function importAll(
  api: Api,
  rows: AsyncIterable<SourceRow>,
  { replace, check, json }: ImportOptions,
): Promise<readonly Result[]> {
  const results: Result[] = []
  let page: Required<Pick<SourceRow, 'line' | 'row'>>[] = []
  let bytes = 0
  const progress = progressOf(json === true)
  const send = async () => {
    if (page.length === 0) return
    const body = {
      connections: page.map(({ row }) => row as unknown as ForeignConnection), // the server reads them
      ...(replace && { replace }),
      ...(check && { check }),
    }
    const { items } = await api.call('importConnections', { body, options: { timeoutMs: DEADLINE_MS } })
    for (const { index, ...item } of items) results.push({ line: page[index]?.line ?? 0, ...item })
    page = []
    bytes = 0
    progress.show(results.length)
  }
  try {
    for await (const { line, row, fault } of rows) {
      if (row === undefined) {
        results.push({ line, result: 'refused', ...fault })
        continue
      }
      page.push({ line, row })
      bytes += Buffer.byteLength(JSON.stringify(row))
      if (page.length >= (check ? CHECKED_PAGE : PAGE) || bytes >= PAGE_BYTES) await send()
    }
    await send()
  } catch (error) {
    const isOfFile = error instanceof ExportFault
    if (isOfFile)
      await send() // the rows before the fault are complete
    else if (!(error instanceof CommandFailure) || results.length === 0) throw error
    const stored = results.filter(({ result }) => result !== 'refused').length
    throw new CommandFailure(
      `${error.message} Of the ${results.length} rows before it, ${stored} are stored.`,
      isOfFile ? EXIT.usage : error.exitCode,
    )
  } finally {
    progress.end()
  }
  return results.toSorted((a, b) => a.line - b.line)
}

/** Reports progress on standard error: at a terminal one line that changes, elsewhere a line for each page. */
function progressOf(isSilent: boolean): { show(done: number): void; end(): void } {
  const { stderr } = process
  const began = performance.now()
  return {
    show(done) {
      if (isSilent) return
      const perSecond = Math.round((done / (performance.now() - began)) * 1000)
      const line = `${done} ${done === 1 ? 'row' : 'rows'}, ${perSecond} a second`
      stderr.write(stderr.isTTY ? `\r${line}   ` : `${line}\n`)
    },
    end: () => void (!isSilent && stderr.isTTY && stderr.write('\n')),
  }
}

/** For each entry, its kept values by their own names and by their names in the provider's answers. */
async function keptNames(api: Api): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const entries = await api.list('listAuthProviders')
  return new Map(
    entries.map(({ id, oauth2 }) => [
      id,
      new Map(
        Object.entries(oauth2?.kept_values ?? {}).flatMap(([name, { at }]) => [
          [name, name] as const,
          [at.replace(/^\$\./, ''), name] as const,
        ]),
      ),
    ]),
  )
}

function parseMapping(text: string): string {
  if (/^[^=]+=[^=]+$/.test(text)) return text
  throw new InvalidArgumentError('Write it as name=id, such as google-mail=google.')
}

function splitMapping(text: string): readonly [string, string] {
  const [name = '', id = ''] = text.split('=')
  return [name, id]
}

function countsOf(results: readonly Result[]) {
  const count = (wanted: (result: Result) => boolean) => results.filter(wanted).length
  return {
    rows: results.length,
    created: count(({ result }) => result === 'created'),
    replaced: count(({ result }) => result === 'replaced'),
    present: count(({ result }) => result === 'present'),
    refused: count(({ result }) => result === 'refused'),
    checked: count(({ check }) => check === 'refreshed'),
    check_refused: count(({ check }) => check === 'refused'),
    check_unavailable: count(({ check }) => check === 'unavailable'),
  }
}

function report(format: string, results: readonly Result[]): void {
  const noted = results.filter(
    ({ result, check }) => result === 'refused' || check === 'refused' || check === 'unavailable',
  )
  if (noted.length > 0)
    print(
      table(
        ['line', 'member', 'reason'],
        noted
          .slice(0, SHOWN)
          .map(
            ({
              line,
              member = '',
              reason = 'the provider refused its refresh token: the user must approve again',
            }) => [String(line), sanitize(member) || '-', sanitize(reason)],
          ),
      ),
    )
  if (noted.length > SHOWN) print(dim(`and ${noted.length - SHOWN} more; --json has all`))
  const counts = countsOf(results)
  print(
    `${counts.refused === 0 ? MARKS.ok : MARKS.warning} ${bold(`${counts.rows} ${counts.rows === 1 ? 'row' : 'rows'}`)} (${format}): ${counts.created} created, ${counts.replaced} replaced, ${counts.present} already there, ${counts.refused} refused`,
  )
  if (counts.checked + counts.check_refused + counts.check_unavailable > 0)
    print(
      `  ${counts.checked} refreshed, ${counts.check_refused} refused by their provider, ${counts.check_unavailable} could not be checked now`,
    )
}

const EXAMPLES = `
Examples:
  $ gatepass connections import connections.gatepass               prompts for the passphrase
  $ gatepass connections import nango.jsonl --provider google-mail=google --check
  $ gatepass connections import users.csv --url https://gatepass.example.com --key "$GATEPASS_API_KEY"

A CSV has a heading: user_id, provider_id, access_token, refresh_token, expires_at, scopes, account. The provider entry
must have the client that got the tokens. Rows whose user, provider and account are there already are skipped, so a run
that was interrupted is run again. Each row is either stored completely or refused with its line and reason.`
