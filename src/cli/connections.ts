import type { Command } from 'commander'
import { omitted } from '../operations/omitted.ts'
import { withApi } from './api.ts'
import { inputFlags } from './input-flags.ts'
import { outputTable } from './output-table.ts'
import { MARKS, print, printJson, sanitize, toMinute } from './print.ts'
import { defineSharedConnections } from './shared-connections.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from './shell.ts'

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

  defineSharedConnections(connections, shell)
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
