import type { Command } from 'commander'
import { isRecord } from '../parsing/json-record.ts'
import type { ImportedTool, ToolMetadata } from '../sdk/generated/wire.ts'
import { environmentName } from '../services/environment-client.ts'
import { isDerivedNameWarning } from '../tools/metadata/metadata-name.ts'
import { warnOfTokens } from '../tools/metadata/run-time-needs.ts'
import { type Api, withApi } from './api.ts'
import { CommandFailure, refusalOf } from './failure.ts'
import { codeBeside, readMetadataFiles } from './metadata-files.ts'
import { bold, dim, MARKS, print, printJson, quantity, sanitize } from './print.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from './shell.ts'

interface ImportOptions extends CommonOptions {
  readonly worker?: string
  readonly verbose?: true
  readonly dryRun?: true
}

interface ImportedItem extends ImportedTool {
  /** The file that contained it. */
  readonly file: string
}

export function defineImport(command: Command, shell: Shell): void {
  withCommonOptions(
    command.argument(
      '<source>',
      'a JSON file, a directory (every *.json in it, at any depth), or - for standard input',
      parseId,
    ),
  )
    .option('--worker <id>', 'the worker that runs the imported tools', parseId)
    .option('--dry-run', 'print what would be imported, and change nothing')
    .option('--verbose', 'print every warning instead of only the number')
    .addHelpText('after', EXAMPLES)
    .action(async (source: string, options: ImportOptions) => {
      const files = await readMetadataFiles(source)
      return withApi(shell, { ...options, creates: 'database' }, async (api) => {
        const { items, failure } = await importFiles(api, files, options)
        if (options.json) printJson({ items })
        else report(items, options)
        if (failure !== undefined) throw failure
        if (items.every((item) => item.result === 'refused'))
          throw new CommandFailure('Nothing was imported: every tool was refused. The reasons are above.')
      })
    })
}

/**
 * Imports the files one after the other. If the API cannot take a file because of the API key or an outage, the import
 * ends there, with the items of the files before it and the reason as `failure`; at the first file it is thrown.
 */
async function importFiles(
  api: Api,
  files: Awaited<ReturnType<typeof readMetadataFiles>>,
  options: ImportOptions,
): Promise<{ readonly items: readonly ImportedItem[]; readonly failure?: CommandFailure }> {
  const items: ImportedItem[] = []
  for (const { file, reading } of files) {
    try {
      items.push(
        ...(reading.outcome === 'refused'
          ? [refusedItem(file, reading.reason)]
          : await importFile(api, file, reading.documents, options)),
      )
    } catch (error) {
      if (!(error instanceof CommandFailure) || items.length === 0) throw error
      const message = `${error.message} This happened at ${file}; no later file was imported.`
      return { items, failure: new CommandFailure(message, error.exitCode) }
    }
  }
  return { items }
}

async function importFile(
  api: Api,
  file: string,
  documents: readonly unknown[],
  { worker, dryRun }: ImportOptions,
): Promise<ImportedItem[]> {
  const query = { worker_id: worker, dry_run: dryRun && ('true' as const) }
  const body = documents as readonly ToolMetadata[] // the server reads them
  try {
    const { items } = await api.call('importTools', { query, body })
    const warnings = documents.length === 1 ? warningsOfCode(file, documents[0]) : []
    return items.map((item) => ({ file, ...item, warnings: [...item.warnings, ...warnings] }))
  } catch (error) {
    const isOfFile = [400, 413].includes(refusalOf(error)?.status ?? 0)
    if (!(error instanceof CommandFailure) || !isOfFile) throw error // the next file would most likely be refused too
    return [refusedItem(file, error.message)]
  }
}

/** Warnings about the code beside the file, which Shinkai's tools have in `tool.ts` or `tool.py`. */
function warningsOfCode(file: string, document: unknown): ImportedItem['warnings'] {
  const warnings: { path: string; message: string }[] = []
  const oauth = isRecord(document) && Array.isArray(document.oauth) ? document.oauth : []
  const names = oauth.flatMap((entry) =>
    isRecord(entry) && typeof entry.name === 'string' ? [entry.name] : [],
  )
  for (const code of codeBeside(file))
    warnOfTokens(code, '', names, (path, message) => warnings.push({ path, message }))
  return warnings
}

function refusedItem(file: string, reason: string): ImportedItem {
  return { file, name: file, result: 'refused', reason, providers: [], warnings: [] }
}

const VERBS = {
  created: `${MARKS.ok} created  `,
  updated: `${MARKS.ok} updated  `,
  unchanged: `${dim('=')} unchanged`,
  refused: `${MARKS.failed} refused  `,
} as const satisfies Record<ImportedItem['result'], string>

function report(items: readonly ImportedItem[], { verbose = false, dryRun = false }): void {
  const taken = items.filter(({ tool_id }) => tool_id !== undefined)
  const width = Math.min(48, Math.max(0, ...taken.map(({ name }) => sanitize(name).length)))
  for (const { file, name, tool_id: toolId, result, reason, warnings } of items) {
    const from = name === file ? '' : dim(` (${sanitize(file)})`)
    if (toolId === undefined)
      print(`${VERBS[result]}  ${sanitize(name)}${from}\n               ${sanitize(reason ?? '')}`)
    else print(`${VERBS[result]}  ${sanitize(name).padEnd(width)}  ${dim(sanitize(toolId))}`)
    if (!verbose) continue
    for (const { path, message } of warnings)
      print(`             ${MARKS.warning} ${path === '' ? '' : `${sanitize(path)}: `}${sanitize(message)}`)
  }

  const providers = new Map(
    items.flatMap((item) => item.providers.map((provider) => [provider.id, provider])),
  )
  if (providers.size > 0) print(`\n${bold('Providers')}`)
  for (const provider of providers.values()) reportProvider(provider)
  print(`\n${summary(items, { verbose })}`)
  if (dryRun) print('This was a dry run: nothing was changed.')
}

/** How many tools had each result. Warnings that a name was respelled are counted apart from the others. */
function summary(items: readonly ImportedItem[], { verbose }: { readonly verbose: boolean }): string {
  const refused = items.filter(({ result }) => result === 'refused').length
  const results = (['created', 'updated', 'unchanged'] as const).flatMap((result) => {
    const many = items.filter((item) => item.result === result).length
    return many > 0 ? `${many} ${result}` : []
  })
  const all = items.flatMap(({ warnings }) => warnings)
  const respelled = all.filter(({ message }) => isDerivedNameWarning(message)).length
  const warnings = all.length - respelled
  return [
    `${bold(`${items.length - refused} accepted`)}${results.length > 0 ? ` (${results.join(', ')})` : ''}`,
    bold(`${refused} refused`),
    ...(warnings > 0
      ? [`${quantity(warnings, 'warning')}${verbose ? '' : dim(' (--verbose shows them)')}`]
      : []),
    ...(respelled > 0 ? [dim(`${quantity(respelled, 'name')} respelled`)] : []),
  ].join(', ')
}

function reportProvider({ id, name, redirect_uri, missing }: ImportedTool['providers'][number]): void {
  const variables = missing.map((member) => `${environmentName(id)}_${member.toUpperCase()}`)
  print(
    `${variables.length === 0 ? MARKS.ok : MARKS.warning} ${id} ${dim(sanitize(name))}\n` +
      `    redirect URI  ${redirect_uri ?? 'known after the import'}` +
      (variables.length === 0
        ? ''
        : `\n    still to set  ${variables.join('  ')}\n    or run        gatepass providers set ${id}`),
  )
}

const EXAMPLES = `
Examples:
  $ gatepass import ./tools/x-twitter-post.json
  $ gatepass import ./tools --dry-run
  $ gatepass import ./tools --worker my-worker --verbose
  $ curl -s https://example.com/tool.json | gatepass import - --json

Each tool is either imported completely or refused with a reason. Importing it again changes nothing. In a directory,
node_modules and folders that begin with a dot are skipped. The exit code is 0 if at least one tool was imported.`
