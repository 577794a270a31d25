import type { Command } from 'commander'
import { environmentName } from '../flows/find-provider.ts'
import {
  type ImportedProvider,
  type ImportedTool,
  importedToWire,
  importTools,
} from '../tools/metadata/import-tools.ts'
import { getWorker } from '../tools/worker.ts'
import { readMetadataFiles } from './metadata-files.ts'
import { faint, MARKS, plain, print, printJson, strong } from './print.ts'
import { CommandFailure, type CommonOptions, jsonOption, projectOption, type Shell } from './shell.ts'
import { withBroker } from './with-broker.ts'

interface ImportOptions extends CommonOptions {
  readonly worker?: string
  readonly verbose?: true
}

interface ImportedItem extends ImportedTool {
  /** The file it stood in. */
  readonly file: string
}

export function addImport(program: Command, shell: Shell): void {
  program
    .command('import')
    .description('import tool metadata: the tools become known, their oauth entries become providers')
    .argument(
      '<source>',
      'a JSON file, a directory (every *.json in it, at any depth), or - for standard input',
    )
    .option('--worker <id>', 'the worker that runs them')
    .option('--verbose', 'print every warning, not just how many there are')
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (source: string, options: ImportOptions) => {
      const files = await readMetadataFiles(source)
      return withBroker(shell, { ...options, makes: 'database' }, async ({ broker, project }) => {
        const worker =
          options.worker === undefined ? undefined : await getWorker(broker, project.id, options.worker)
        const items: ImportedItem[] = []
        for (const { file, reading } of files) {
          if (reading.outcome === 'refused') {
            const { reason } = reading
            items.push({ file, name: file, result: 'refused', reason, providers: [], warnings: [] })
            continue
          }
          const imported = await importTools(broker, project.id, reading.documents, worker && { worker })
          items.push(...imported.map((item) => ({ ...item, file })))
        }
        if (options.json)
          printJson({ items: items.map((item) => ({ file: item.file, ...importedToWire(item) })) })
        else report(items, { verbose: options.verbose === true })
        if (items.every((one) => one.result === 'refused'))
          throw new CommandFailure('Nothing was imported: all were refused, each with its reason.')
      })
    })
}

const VERBS = {
  created: `${MARKS.ok} created  `,
  updated: `${MARKS.ok} updated  `,
  unchanged: `${faint('=')} unchanged`,
  refused: `${MARKS.failed} refused  `,
} as const satisfies Record<ImportedTool['result'], string>

function report(items: readonly ImportedItem[], { verbose }: { readonly verbose: boolean }): void {
  const taken = items.filter(({ toolId }) => toolId !== undefined)
  const width = Math.min(48, Math.max(0, ...taken.map(({ name }) => plain(name).length)))
  for (const { file, name, toolId, result, reason, warnings } of items) {
    const from = name === file ? '' : faint(` (${plain(file)})`)
    if (toolId === undefined)
      print(`${VERBS[result]}  ${plain(name)}${from}\n               ${plain(reason ?? '')}`)
    else print(`${VERBS[result]}  ${plain(name).padEnd(width)}  ${faint(plain(toolId))}`)
    if (!verbose) continue
    for (const { path, message } of warnings)
      print(`             ${MARKS.warning} ${path === '' ? '' : `${plain(path)}: `}${plain(message)}`)
  }

  const providers = new Map(items.flatMap((item) => item.providers.map((one) => [one.id, one])))
  if (providers.size > 0) print(`\n${strong('Providers')}`)
  for (const provider of providers.values()) reportProvider(provider)

  const count = (which: (item: ImportedItem) => boolean) => items.filter(which).length
  const refused = count((one) => one.result === 'refused')
  const warnings = items.flatMap((one) => one.warnings).length
  const parts = (['created', 'updated', 'unchanged'] as const)
    .map((result) => [result, count((one) => one.result === result)] as const)
    .filter(([, many]) => many > 0)
    .map(([result, many]) => `${many} ${result}`)
  print(
    `\n${strong(`${items.length - refused} taken`)}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}, ${strong(`${refused} refused`)}` +
      (warnings > 0
        ? `, ${warnings} warning${warnings === 1 ? '' : 's'}${verbose ? '' : faint(' (--verbose shows them)')}`
        : ''),
  )
}

function reportProvider({ id, name, redirectUri, missing }: ImportedProvider): void {
  const variables = missing.map((one) => `${environmentName(id)}_${one.toUpperCase()}`)
  print(
    `${variables.length === 0 ? MARKS.ok : MARKS.warning} ${id} ${faint(plain(name))}\n` +
      `    redirect URI  ${redirectUri}` +
      (variables.length === 0 ? '' : `\n    to be set     ${variables.join('  ')}`),
  )
}

const EXAMPLES = `
Examples:
  $ gatepass import ./tools/x-twitter-post.json
  $ gatepass import ./tools --worker my-worker --verbose
  $ curl -s https://example.com/tool.json | gatepass import - --json

Each tool is taken whole or refused with the reason; the same again changes nothing.
Exit code 0 when at least one was taken.`
