import type { Command } from 'commander'
import { withApi } from './api.ts'
import { inputFlags } from './input-flags.ts'
import { outputTable } from './output-table.ts'
import { MARKS, print, printJson, sanitize, toMinute } from './print.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from './shell.ts'

const LIST = inputFlags('listMcpClients', { user_id: { flags: '--user <id>', help: 'only for this user' } })

const CLIENTS = outputTable('listMcpClients', {
  id: 'id',
  user_id: 'user',
  client_name: 'name',
  redirect_uri: 'returns to',
  scopes: ['scopes', ({ scopes }) => scopes.join(' ')],
  has_access: 'access',
  created_at: ['allowed', ({ created_at: at }) => toMinute(at)],
  last_used_at: ['last used', ({ last_used_at: at }) => (at === undefined ? 'never' : toMinute(at))],
  client_id: false,
})

export function defineMcpClients(clients: Command, shell: Shell): void {
  clients.addHelpText('after', EXAMPLES)

  LIST.addTo(
    withCommonOptions(
      clients
        .command('list', { isDefault: true })
        .description('list the MCP clients that users have allowed to act for them'),
    ),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const items = await api.list('listMcpClients', { query: LIST.read(options) })
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('No MCP clients.')
        print(CLIENTS(items))
      }),
    )

  withCommonOptions(
    clients
      .command('delete')
      .description("end a client's access for its user: its tokens are refused from now on")
      .argument('<id>', "the client's id, as mcp-clients list shows it", parseId),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        await api.call('deleteMcpClient', { params: { id } })
        if (options.json) return printJson({ id, deleted: true })
        print(
          `${MARKS.ok} ${sanitize(id)} is disconnected. To act for its user again, it must ask the user first.`,
        )
      }),
    )
}

const EXAMPLES = `
Examples:
  $ gatepass mcp-clients                      of all users
  $ gatepass mcp-clients --user ada --json
  $ gatepass mcp-clients delete mcpc_0199d1c2a5b37c53b6a1f2e0d4c3b2a1

Users see and disconnect their own clients at /me/clients on the server.`
