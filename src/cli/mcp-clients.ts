import type { Command } from 'commander'
import { withApi } from './api.ts'
import { inputFlags } from './input-flags.ts'
import { MARKS, print, printJson, sanitize, table, toMinute } from './print.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from './shell.ts'

const LIST = inputFlags('listMcpClients', { user_id: { flags: '--user <id>', help: 'only of this user' } })

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
        const rows = items.map((one) => [
          one.id,
          one.user_id,
          one.client_name,
          one.redirect_uri,
          one.scopes.join(' '),
          one.has_access ? 'yes' : 'no',
          toMinute(one.created_at),
          one.last_used_at === undefined ? 'never' : toMinute(one.last_used_at),
        ])
        print(table(['id', 'user', 'name', 'leads to', 'scopes', 'access', 'allowed', 'last used'], rows))
      }),
    )

  withCommonOptions(
    clients
      .command('delete')
      .description("end a client's access for its user: its tokens are refused from now on")
      .argument('<id>', 'as mcp-clients list shows it', parseId),
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

Users see and disconnect their own at /me/clients of the server.`
