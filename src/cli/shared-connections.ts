import type { Command } from 'commander'
import { omitted } from '../operations/omitted.ts'
import { withApi } from './api.ts'
import { inputFlags } from './input-flags.ts'
import { outputTable } from './output-table.ts'
import { MARKS, print, printJson, sanitize } from './print.ts'
import { type CommonOptions, parseId, parseNames, type Shell, withCommonOptions } from './shell.ts'

// The commands of `connections` for connections of the project.

const SHARED = outputTable('listConnectionsOfProject', {
  id: 'id',
  provider_id: ['provider', ({ provider_id: id }) => id ?? '(removed)'],
  name: 'name',
  shared_with: ['shared with', ({ shared_with: shared }) => sharingOf(shared)],
  scopes: ['at most', ({ scopes }) => scopes?.join(' ') ?? 'what each tool needs'],
  ...omitted('owner', 'created_at', 'updated_at'),
})

const ADD = inputFlags('addConnectionOfProject', {
  provider_id: false,
  owner: false,
  name: { flags: '--name <name>' },
  scopes: { flags: '--scopes <scopes>' },
})

const CHANGE = inputFlags('updateConnectionOfProject', {
  name: { flags: '--name <name>' },
})

interface SharingOptions {
  readonly users?: readonly string[]
  readonly agents?: readonly string[]
  readonly tools?: readonly string[]
}

interface ChangeOptions extends SharingOptions {
  readonly anyAgent?: true
  readonly anyTool?: true
}

const USERS = ['--users <ids>', 'users who may use it, separated by commas; * is any characters'] as const

const withLimits = (command: Command) =>
  command
    .option('--agents <names>', 'only for these API keys or MCP clients', parseNames)
    .option('--tools <names>', 'only for these tools, such as Crm.*', parseNames)

/** With whom it is shared, as far as the options say. */
function sharingIn({ users, agents, tools }: SharingOptions) {
  return { ...(users && { users }), ...(agents && { agents }), ...(tools && { tools }) }
}

function sharingOf({ users, agents, tools }: SharingOptions & { readonly users: readonly string[] }): string {
  const parts = [['users', users] as const, ['agents', agents] as const, ['tools', tools] as const]
  return parts.flatMap(([of, names]) => (names === undefined ? [] : `${of} ${names.join(', ')}`)).join('; ')
}

export function defineSharedConnections(connections: Command, shell: Shell): void {
  withCommonOptions(
    connections
      .command('shared')
      .description('list the connections of the project, and with whom they are shared'),
  )
    .addHelpText('after', SHARED_EXAMPLES)
    .action(async (options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const items = await api.list('listConnectionsOfProject', {})
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('The project has no connections of its own.')
        print(SHARED(items))
      }),
    )

  withCommonOptions(
    withLimits(
      ADD.addTo(
        connections
          .command('add')
          .description('add a connection of the project, and share it')
          .argument('<provider>', 'a provider whose owner is project or either')
          .requiredOption(...USERS, parseNames),
      ),
    ),
  )
    .addHelpText('after', SHARED_EXAMPLES)
    .action(async (provider: string, options: CommonOptions & SharingOptions & { users: string[] }) =>
      withApi(shell, options, async (api) => {
        const { users } = options
        const shared_with = { ...sharingIn(options), users }
        const body = { ...ADD.read(options), provider_id: provider, shared_with }
        const added = await api.call('addConnectionOfProject', { body })
        if (options.json) return printJson(added)
        print(
          `${MARKS.ok} ${sanitize(added.name)} (${added.id}) works, and is shared with ${sanitize(sharingOf(added.shared_with))}.`,
        )
      }),
    )

  withCommonOptions(
    withLimits(
      CHANGE.addTo(
        connections
          .command('change')
          .description('rename a connection of the project, or share it with others; what is not given stays')
          .argument('<id>', 'its id, as connections shared shows it', parseId)
          .option(...USERS, parseNames)
          .option('--any-agent', 'for all API keys and MCP clients again')
          .option('--any-tool', 'for all tools again, the proxy, and tokens that callers fetch'),
      ),
    ),
  )
    .addHelpText('after', SHARED_EXAMPLES)
    .action(async (id: string, options: CommonOptions & ChangeOptions) =>
      withApi(shell, options, async (api) => {
        const { anyAgent, anyTool } = options
        const shared_with = {
          ...(anyAgent && { agents: null }),
          ...(anyTool && { tools: null }),
          ...sharingIn(options),
        }
        const body = { ...CHANGE.read(options), shared_with }
        const changed = await api.call('updateConnectionOfProject', { params: { id }, body })
        if (options.json) return printJson(changed)
        print(
          `${MARKS.ok} ${sanitize(changed.name)} is shared with ${sanitize(sharingOf(changed.shared_with))}.`,
        )
      }),
    )

  withCommonOptions(
    connections
      .command('test')
      .description('forget the tokens of a connection of the project, and ask for a new one')
      .argument('<id>', 'its id, as connections shared shows it', parseId),
  )
    .addHelpText('after', SHARED_EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const tested = await api.call('testConnectionOfProject', { params: { id } })
        if (options.json) return printJson(tested)
        print(`${MARKS.ok} ${sanitize(tested.provider_id ?? '')} gave a token for ${sanitize(tested.name)}.`)
      }),
    )
}

const SHARED_EXAMPLES = `
Examples:
  $ gatepass connections add billing --name Billing --users '*' --tools 'Billing.*'
  $ gatepass connections shared
  $ gatepass connections change shared_0199d1c2a5b37c53b6a1f2e0d4c3b2a1 --users ada,bob
  $ gatepass connections test shared_0199d1c2a5b37c53b6a1f2e0d4c3b2a1
  $ gatepass connections delete shared_0199d1c2a5b37c53b6a1f2e0d4c3b2a1`
