import type { Command } from 'commander'
import { omitted } from '../operations/omitted.ts'
import { type Api, withApi } from './api.ts'
import { inputFlags } from './input-flags.ts'
import { outputTable } from './output-table.ts'
import { MARKS, print, printJson, sanitize } from './print.ts'
import { FIELDS, readFields } from './read-fields.ts'
import { type CommonOptions, parseId, parseNames, type Shell, withCommonOptions } from './shell.ts'

// The commands of `connections` for connections of the project.

const SHARED = outputTable('listConnectionsOfProject', {
  id: 'id',
  provider_id: ['provider', ({ provider_id: id }) => id ?? '(removed)'],
  name: 'name',
  status: [
    'status',
    ({ status, status_reason: reason }) =>
      status === 'active' ? status : `needs attention${reason === undefined ? '' : `: ${reason}`}`,
  ],
  shared_with: ['shared with', ({ shared_with: shared }) => sharingOf(shared)],
  scopes: ['at most', ({ scopes }) => scopes?.join(' ') ?? 'what each tool needs'],
  ...omitted('owner', 'status_reason', 'created_at', 'updated_at'),
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

interface WithFields {
  readonly fields?: true
}

interface ChangeOptions extends SharingOptions, WithFields {
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

async function fieldsOf(api: Api, id: string): Promise<Record<string, string>> {
  const { provider_id: provider } = await api.call('getConnectionOfProject', { params: { id } })
  return readFields(api, provider ?? '')
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
          .requiredOption(...USERS, parseNames)
          .option(...FIELDS),
      ),
    ),
  )
    .addHelpText('after', SHARED_EXAMPLES)
    .action(
      async (provider: string, options: CommonOptions & SharingOptions & WithFields & { users: string[] }) =>
        withApi(shell, options, async (api) => {
          const { users } = options
          const shared_with = { ...sharingIn(options), users }
          const fields = options.fields && (await readFields(api, provider))
          const body = { ...ADD.read(options), provider_id: provider, shared_with, ...(fields && { fields }) }
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
          .description(
            'rename a connection of the project, share it with others, or replace its key; what is not given stays',
          )
          .argument('<id>', 'its id, as connections shared shows it', parseId)
          .option(...USERS, parseNames)
          .option(...FIELDS)
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
        const fields = options.fields && (await fieldsOf(api, id))
        const body = { ...CHANGE.read(options), shared_with, ...(fields && { fields }) }
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
      .description('ask for a new token of a connection of the project, or have its key checked')
      .argument('<id>', 'its id, as connections shared shows it', parseId),
  )
    .addHelpText('after', SHARED_EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const tested = await api.call('testConnectionOfProject', { params: { id } })
        if (options.json) return printJson(tested)
        print(
          `${MARKS.ok} ${sanitize(tested.provider_id ?? '')} gave a token for ${sanitize(tested.name)}, or takes its key.`,
        )
      }),
    )
}

const SHARED_EXAMPLES = `
Examples:
  $ gatepass connections add billing --name Billing --users '*' --tools 'Billing.*'
  $ gatepass connections add freshdesk --name Support --users 'support-*' --fields
  $ gatepass connections shared
  $ gatepass connections change shared_0199d1c2a5b37c53b6a1f2e0d4c3b2a1 --users ada,bob
  $ gatepass connections test shared_0199d1c2a5b37c53b6a1f2e0d4c3b2a1
  $ gatepass connections delete shared_0199d1c2a5b37c53b6a1f2e0d4c3b2a1`
