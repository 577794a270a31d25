import type { Command } from 'commander'
import { omitted } from '../operations/omitted.ts'
import type { DescribedTool } from '../sdk/generated/wire.ts'
import { withApi } from './api.ts'
import { inputFlags } from './input-flags.ts'
import { outputTable } from './output-table.ts'
import { bold, dim, MARKS, print, printJson, sanitize, shortened, table } from './print.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from './shell.ts'
import { defineToolsDev } from './tools-dev.ts'

const LIST = inputFlags('listTools', {
  q: {
    flags: '--query <words>',
    help: 'words that must all occur in the name, description, or tags',
  },
  provider: { flags: '--provider <id>', help: 'only those that need this provider' },
  user_id: { flags: '--user <id>', help: 'show for each tool whether this user has granted what it needs' },
  include_format: false, // for programs
})

const SHOW = inputFlags('getTool', {
  user_id: { flags: '--user <id>', help: 'show whether this user has granted what it needs' },
  include_format: false,
})

const TOOLS = outputTable('listTools', {
  tool_id: 'id',
  requirements: ['needs', (tool) => needsOf(tool).join(', ') || '-'],
  'requirements.met': 'met',
  description: ['description', ({ description }) => shortened(description)],
  ...omitted('fully_qualified_name', 'qualified_name', 'name', 'tags'),
})

export function defineTools(tools: Command, shell: Shell): void {
  tools.addHelpText('after', EXAMPLES)
  defineToolsDev(tools, shell)

  LIST.addTo(
    withCommonOptions(
      tools.command('list', { isDefault: true }).description('list known tools and what each needs'),
    ),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const items = await api.list('listTools', { query: LIST.read(options) })
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('No tools.')
        print(TOOLS(items))
      }),
    )

  SHOW.addTo(
    withCommonOptions(
      tools
        .command('show')
        .description('show one tool, by any of its names')
        .argument('<tool>', "the tool's id or name", parseId),
    ),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (name: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const tool = await api.call('getTool', { params: { name }, query: SHOW.read(options) })
        if (options.json) return printJson(tool)
        print(bold(sanitize(tool.tool_id)))
        if (tool.description !== '') print(sanitize(tool.description))
        const { parameters } = tool.input
        if (parameters.length > 0)
          print(
            `\n${table(
              ['parameter', 'type', 'required', 'description'],
              parameters.map(({ name, value_schema, required, description = '' }) => [
                name,
                value_schema?.val_type ?? '',
                required === true ? 'yes' : 'no',
                shortened(description),
              ]),
            )}`,
          )
        const needs = needsOf(tool)
        print(
          `\n${dim('needs')}  ${needs.map(sanitize).join(', ') || 'nothing'}${tool.requirements.met === false ? `  ${MARKS.warning} not everything is available` : ''}`,
        )
      }),
    )

  withCommonOptions(
    tools
      .command('delete')
      .description("delete an imported tool (a worker's tools are deleted with the worker)")
      .argument('<tool>', "the tool's id or name", parseId),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (name: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const { tool_id: id } = await api.call('getTool', { params: { name } })
        await api.call('deleteTool', { params: { name: id } })
        if (options.json) return printJson({ tool_id: id, deleted: true })
        print(`${MARKS.ok} ${sanitize(id)} is deleted. ${dim('Its providers and connections stay.')}`)
      }),
    )
}

function needsOf({ requirements }: DescribedTool): string[] {
  const { authorization, authorizations, secrets = [] } = requirements
  const providers = authorizations ?? (authorization === undefined ? [] : [authorization])
  return [
    ...providers.map(({ id, provider_id, status, status_reason, token_status }) => {
      const trouble = status === 'inactive' ? (status_reason ?? status) : token_status
      return `${id ?? provider_id ?? '?'}${trouble === undefined ? '' : ` (${trouble})`}`
    }),
    ...secrets.map(({ key, met }) => `secret ${key}${met === false ? ' (not set)' : ''}`),
  ]
}

const EXAMPLES = `
Examples:
  $ gatepass tools --query repositories --user ada
  $ gatepass tools show Sandbox_Profile --json
  $ gatepass tools delete local:Sandbox_Profile:1.0.0
  $ gatepass tools dev ./hub.ts`
