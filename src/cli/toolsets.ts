import { type Command, Option } from 'commander'
import { TOOL_LISTINGS, TOOL_NAMINGS } from '../domain/toolset.ts'
import type { Toolset, ToolsetDetail } from '../sdk/generated/wire.ts'
import { withApi } from './api.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { bold, dim, MARKS, print, printJson, quantity, sanitize, shortened, table } from './print.ts'
import { type CommonOptions, commandLine, parseId, type Shell, withCommonOptions } from './shell.ts'

interface ToolsetOptions extends CommonOptions {
  readonly tool?: readonly string[]
  readonly namespace?: readonly string[]
  readonly tag?: readonly string[]
  readonly provider?: readonly string[]
  readonly names?: Toolset['names']
  readonly instructions?: string
  readonly listing?: Toolset['listing']
  readonly clear?: readonly string[]
}

const CLEARABLE = ['tools', 'namespaces', 'tags', 'providers', 'instructions', 'listing'] as const

export function defineToolsets(toolsets: Command, shell: Shell): void {
  toolsets.addHelpText('after', EXAMPLES)

  withCommonOptions(toolsets.command('list', { isDefault: true }).description('list toolsets'))
    .addHelpText('after', EXAMPLES)
    .action(async (options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const items = await api.list('listToolsets')
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('No toolsets: MCP clients get all tools of the project.')
        print(
          table(
            ['id', 'selects', 'names', 'address'],
            items.map((one) => [one.id, selectorsOf(one), one.names, one.url]),
          ),
        )
      }),
    )

  withCommonOptions(
    toolsets
      .command('show')
      .description('show a toolset, and its tools under the names that MCP clients get')
      .argument('<id>', "the toolset's id", parseId),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const toolset = await api.call('getToolset', { params: { id } })
        const shown = await api.list('listToolsetTools', { params: { id } })
        if (options.json) return printJson({ ...toolset, shown })
        print(bold(sanitize(toolset.id)))
        print(`${dim('address')}  ${toolset.url}`)
        print(`${dim('selects')}  ${sanitize(selectorsOf(toolset))}`)
        print(`${dim('listing')}  ${toolset.listing ?? 'all, or search for more than 128 tools'}`)
        if (toolset.instructions !== undefined)
          print(`${dim('instructions')}  ${sanitize(toolset.instructions)}`)
        if (shown.length > 0) {
          const rows = shown.map(({ name, tool_id, description }) => [name, tool_id, shortened(description)])
          print(`\n${table(['name', 'tool', 'description'], rows)}`)
        }
        printWarnings(toolset)
      }),
    )

  withToolsetOptions(
    toolsets.command('create').description('create a toolset').argument('<id>', 'such as mail', parseId),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: ToolsetOptions) =>
      withApi(shell, options, async (api) => {
        const made = await api.call('createToolset', { body: { id, ...bodyOf(options) } })
        if (options.json) return printJson(made)
        print(`${MARKS.ok} ${made.id} is at ${made.url} and has ${quantity(made.tool_count, 'tool')}.`)
        print(dim(`${commandLine(shell, 'mcp', made.id)} prints how to add it to MCP clients.`))
        printWarnings(made)
      }),
    )

  withToolsetOptions(
    toolsets
      .command('update')
      .description('change a toolset; each list that is given replaces the previous list')
      .argument('<id>', "the toolset's id", parseId),
  )
    .addOption(
      new Option(
        '--clear <members...>',
        'remove these: a list of selectors, the instructions, the listing',
      ).choices(CLEARABLE),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: ToolsetOptions) => {
      const { clear = [] } = options
      const given = Object.entries(bodyOf(options)).filter(([, value]) => value !== undefined)
      const [conflicting] = given.map(([member]) => member).filter((member) => clear.includes(member))
      if (conflicting !== undefined)
        throw new CommandFailure(`Either give ${conflicting} or clear ${conflicting}, not both.`, EXIT.usage)
      const body = Object.fromEntries([...given, ...clear.map((member) => [member, null] as const)])
      return withApi(shell, options, async (api) => {
        const changed = await api.call('updateToolset', { params: { id }, body })
        if (options.json) return printJson(changed)
        print(`${MARKS.ok} ${changed.id} has ${quantity(changed.tool_count, 'tool')}.`)
        printWarnings(changed)
      })
    })

  withCommonOptions(
    toolsets
      .command('delete')
      .description('delete a toolset; its tools stay')
      .argument('<id>', "the toolset's id", parseId),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        await api.call('deleteToolset', { params: { id } })
        if (options.json) return printJson({ id, deleted: true })
        print(`${MARKS.ok} ${sanitize(id)} is deleted. ${dim('Its tools stay.')}`)
      }),
    )
}

function withToolsetOptions(command: Command): Command {
  return withCommonOptions(
    command
      .option('--tool <names...>', 'tools, by any of their names; * alone is every tool')
      .option('--namespace <names...>', 'all tools of these namespaces')
      .option('--tag <tags...>', 'all tools with one of these tags')
      .option('--provider <ids...>', 'all tools that need one of these providers')
      .addOption(
        new Option('--names <naming>', "prefixed: Namespace_Tool; bare: the tool's own name").choices(
          TOOL_NAMINGS,
        ),
      )
      .option('--instructions <text>', 'text for the model about these tools')
      .addOption(
        new Option(
          '--listing <listing>',
          'all: clients list every tool; search: clients list two, which search for and call the others',
        ).choices(TOOL_LISTINGS),
      ),
  )
}

function bodyOf({ tool, namespace, tag, provider, names, instructions, listing }: ToolsetOptions) {
  return { tools: tool, namespaces: namespace, tags: tag, providers: provider, names, instructions, listing }
}

function selectorsOf({ tools = [], namespaces = [], tags = [], providers = [] }: Toolset): string {
  return [
    ...tools,
    ...namespaces.map((one) => `namespace ${one}`),
    ...tags.map((one) => `tag ${one}`),
    ...providers.map((one) => `provider ${one}`),
  ].join(', ')
}

function printWarnings({ warnings }: ToolsetDetail): void {
  for (const { path, message } of warnings) print(`${MARKS.warning} ${sanitize(`${path}: ${message}`)}`)
}

const EXAMPLES = `
Examples:
  $ gatepass toolsets                                     list them
  $ gatepass toolsets create mail --namespace gmail outlook --instructions 'Ask before you send.'
  $ gatepass toolsets show mail
  $ gatepass toolsets update mail --tag calendar --names bare --clear namespaces
  $ gatepass toolsets delete mail --json

docs/toolsets.md describes toolsets.`
