import { type Command, Option } from 'commander'
import { withApi } from '../../cli/api.ts'
import { CommandFailure, EXIT } from '../../cli/failure.ts'
import { inputFlags } from '../../cli/input-flags.ts'
import { outputTable } from '../../cli/output-table.ts'
import { bold, dim, MARKS, print, printJson, quantity, sanitize, shortened, table } from '../../cli/print.ts'
import { type CommonOptions, commandLine, parseId, type Shell, withCommonOptions } from '../../cli/shell.ts'
import { omitted } from '../../operations/omitted.ts'
import type { Toolset, ToolsetDetail } from '../../sdk/generated/wire.ts'

const TOOLSET = inputFlags('createToolset', {
  id: false, // the argument
  tools: { flags: '--tool <names...>', help: 'tools, by any of their names; * alone means every tool' },
  namespaces: { flags: '--namespace <names...>', help: 'all tools of these namespaces' },
  tags: { flags: '--tag <tags...>', help: 'all tools with one of these tags' },
  providers: { flags: '--provider <ids...>', help: 'all tools that need one of these providers' },
  names: { flags: '--names <naming>', help: "prefixed: Namespace_Tool; bare: the tool's own name" },
  listing: {
    flags: '--listing <listing>',
    help: 'all: clients list every tool; search: clients list two tools, which find and call the others',
  },
})

const TOOLSETS = outputTable('listToolsets', {
  id: 'id',
  tools: ['selects', selectorsOf],
  names: 'names',
  url: 'address',
  ...omitted('namespaces', 'tags', 'providers', 'listing', 'instructions', 'created_at', 'updated_at'),
})

interface ToolsetOptions extends CommonOptions {
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
        if (items.length === 0) return print('No toolsets. MCP clients get all tools of the project.')
        print(TOOLSETS(items))
      }),
    )

  withCommonOptions(
    toolsets
      .command('show')
      .description('show a toolset and its tools, under the names that MCP clients see')
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

  withToolset(
    toolsets.command('create').description('create a toolset').argument('<id>', 'such as mail', parseId),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: ToolsetOptions) =>
      withApi(shell, options, async (api) => {
        const made = await api.call('createToolset', { body: { id, ...TOOLSET.read(options) } })
        if (options.json) return printJson(made)
        print(`${MARKS.ok} ${made.id} is at ${made.url} and has ${quantity(made.tool_count, 'tool')}.`)
        print(dim(`${commandLine(shell, 'mcp', made.id)} prints how to add it to MCP clients.`))
        printWarnings(made)
      }),
    )

  withToolset(
    toolsets
      .command('update')
      .description('change a toolset; each list you give replaces the previous one')
      .argument('<id>', "the toolset's id", parseId),
  )
    .addOption(
      new Option(
        '--clear <members...>',
        'remove these: a list of selectors, the instructions, or the listing',
      ).choices(CLEARABLE),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: ToolsetOptions) => {
      const { clear = [] } = options
      const given = Object.entries(TOOLSET.read(options))
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
      .description('delete a toolset; its tools are kept')
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

const withToolset = (command: Command) => withCommonOptions(TOOLSET.addTo(command))

function selectorsOf({ tools = [], namespaces = [], tags = [], providers = [] }: Toolset): string {
  return [
    ...tools,
    ...namespaces.map((namespace) => `namespace ${namespace}`),
    ...tags.map((tag) => `tag ${tag}`),
    ...providers.map((provider) => `provider ${provider}`),
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

docs/guides/toolsets.md describes toolsets.`
