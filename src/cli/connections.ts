import type { Command } from 'commander'
import { omitted } from '../operations/omitted.ts'
import { withApi } from './api.ts'
import { inputFlags } from './input-flags.ts'
import { outputTable } from './output-table.ts'
import { MARKS, print, printJson, sanitize, toMinute } from './print.ts'
import { type CommonOptions, parseId, parseNames, type Shell, withCommonOptions } from './shell.ts'

const LIST = inputFlags('listConnections', {
  user_id: { flags: '--user <id>', help: 'only for this user' },
  provider_id: { flags: '--provider <id>', help: 'only at this provider' },
})

const CONNECTIONS = outputTable('listConnections', {
  id: 'id',
  user_id: 'user',
  provider_id: 'provider',
  account: [
    'account',
    ({ account, default: isDefault }) =>
      `${account.name || account.id || '-'}${isDefault ? '' : ' (not the default)'}`,
  ],
  status: [
    'status',
    ({ status, status_reason: reason }) => (reason === undefined ? status : `${status}: ${reason}`),
  ],
  expires_at: ['token valid until', ({ expires_at: at }) => (at === undefined ? '-' : toMinute(at))],
  scopes: ['scopes', ({ scopes }) => scopes.join(' ')],
  ...omitted('status_reason', 'default', 'created_at', 'last_used_at'),
})

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

/** With whom a connection of the project is shared, as `shared_with` of the API has it. */
interface SharingOptions {
  readonly users?: readonly string[]
  readonly agents?: readonly string[]
  readonly tools?: readonly string[]
}

const withSharing = (command: Command) =>
  command
    .option('--users <ids>', 'users who may use it, separated by commas; * is any characters', parseNames)
    .option('--agents <names>', 'only for these API keys or MCP clients', parseNames)
    .option('--tools <names>', 'only for these tools, such as Crm.*', parseNames)

function sharedWithOf({ users, agents, tools }: SharingOptions) {
  if (users === undefined && agents === undefined && tools === undefined) return undefined
  return {
    users: [...(users ?? ['*'])],
    ...(agents && { agents: [...agents] }),
    ...(tools && { tools: [...tools] }),
  }
}

function sharingOf({ users, agents, tools }: SharingOptions & { readonly users: readonly string[] }): string {
  const parts = [['users', users] as const, ['agents', agents] as const, ['tools', tools] as const]
  return parts.flatMap(([of, names]) => (names === undefined ? [] : `${of} ${names.join(', ')}`)).join('; ')
}

type Revocation = 'revoked' | 'unsupported' | 'failed'

export function defineConnections(connections: Command, shell: Shell): void {
  connections.addHelpText('after', EXAMPLES)

  LIST.addTo(
    withCommonOptions(
      connections.command('list', { isDefault: true }).description('list connections, without tokens'),
    ),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const items = await api.list('listConnections', { query: LIST.read(options) })
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('No connections.')
        print(CONNECTIONS(items))
      }),
    )

  withCommonOptions(
    connections
      .command('delete')
      .description('delete a connection here and revoke its tokens at the provider')
      .argument('<id>', "the connection's id", parseId),
  )
    .addHelpText('after', DELETE_EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        if (id.startsWith('shared_')) {
          await api.call('deleteConnectionOfProject', { params: { id } })
          if (options.json) return printJson({ id, deleted: true })
          return print(`${MARKS.ok} ${sanitize(id)} was deleted with its tokens.`)
        }
        const { provider_id } = await api.call('getConnection', { params: { id } })
        const { revocation } = await api.call('deleteConnection', { params: { id } })
        if (options.json) return printJson({ id, revocation })
        const { mark, says } = REVOCATIONS[revocation]
        print(`${mark} ${sanitize(id)} was deleted here. ${says(sanitize(provider_id))}`)
      }),
    )

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
    withSharing(
      ADD.addTo(
        connections
          .command('add')
          .description('add a connection of the project, and share it; by default with every user')
          .argument('<provider>', 'a provider whose owner is project or either'),
      ),
    ),
  )
    .addHelpText('after', SHARED_EXAMPLES)
    .action(async (provider: string, options: CommonOptions & SharingOptions) =>
      withApi(shell, options, async (api) => {
        const shared_with = sharedWithOf(options) ?? { users: ['*'] }
        const body = { ...ADD.read(options), provider_id: provider, shared_with }
        const added = await api.call('addConnectionOfProject', { body })
        if (options.json) return printJson(added)
        print(
          `${MARKS.ok} ${sanitize(added.name)} (${added.id}) works, and is shared with ${sanitize(sharingOf(added.shared_with))}.`,
        )
      }),
    )

  withCommonOptions(
    withSharing(
      CHANGE.addTo(
        connections
          .command('change')
          .description('rename a connection of the project, or share it with others')
          .argument('<id>', 'its id, as connections shared shows it', parseId),
      ),
    ),
  )
    .addHelpText('after', SHARED_EXAMPLES)
    .action(async (id: string, options: CommonOptions & SharingOptions) =>
      withApi(shell, options, async (api) => {
        const shared_with = sharedWithOf(options)
        const body = { ...CHANGE.read(options), ...(shared_with && { shared_with }) }
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

const REVOCATIONS = {
  revoked: { mark: MARKS.ok, says: (name) => `${name} has revoked its tokens.` },
  unsupported: {
    mark: MARKS.warning,
    says: (name) =>
      `${name} offers no way to revoke tokens, so they stay valid until they expire. The user can remove access in their account settings there.`,
  },
  failed: {
    mark: MARKS.warning,
    says: (name) =>
      `${name} did not confirm that its tokens are revoked. The user can remove access in their account settings there.`,
  },
} as const satisfies Record<Revocation, { readonly mark: string; says(name: string): string }>

const EXAMPLES = `
Examples:
  $ gatepass connections --user ada
  $ gatepass connections --provider github --json
  $ gatepass connections delete conn_0199d1c2a5b37c53b6a1f2e0d4c3b2a1`

const DELETE_EXAMPLES = `
Examples:
  $ gatepass connections delete conn_0199d1c2a5b37c53b6a1f2e0d4c3b2a1
  $ gatepass connections delete conn_0199d1c2a5b37c53b6a1f2e0d4c3b2a1 --json

The connection is deleted in every case; \`revocation\` is the outcome at the provider: revoked, unsupported, or failed.`

const SHARED_EXAMPLES = `
Examples:
  $ gatepass connections add billing --name Billing --users '*' --tools 'Billing.*'
  $ gatepass connections shared
  $ gatepass connections change shared_0199d1c2a5b37c53b6a1f2e0d4c3b2a1 --users ada,bob
  $ gatepass connections test shared_0199d1c2a5b37c53b6a1f2e0d4c3b2a1
  $ gatepass connections delete shared_0199d1c2a5b37c53b6a1f2e0d4c3b2a1`
