import type { Command } from 'commander'
import { toTimestamp } from '../domain/clock.ts'
import type { Connection } from '../domain/connection.ts'
import { findProviderByUid } from '../flows/find-provider.ts'
import { revokeConnection } from '../flows/revoke-connection.ts'
import type { Revocation } from '../providers/oauth-client.ts'
import { getProvider } from './choose-provider.ts'
import { MARKS, plain, print, printJson, table } from './print.ts'
import { CommandFailure, type CommonOptions, jsonOption, projectOption, type Shell } from './shell.ts'
import { type Opened, withBroker } from './with-broker.ts'

interface ListOptions extends CommonOptions {
  readonly user?: string
  readonly provider?: string
}

export function addConnections(program: Command, shell: Shell): void {
  const connections = program
    .command('connections')
    .description("users' connections: list them (when nothing else is said), or delete one")
    .addHelpText('after', EXAMPLES)

  connections
    .command('list', { isDefault: true })
    .description('list connections, never with a token')
    .option('--user <id>', 'of this user alone')
    .option('--provider <id>', 'at this provider alone')
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (options: ListOptions) =>
      withBroker(shell, options, async (opened) => {
        const items = await Promise.all((await find(opened, options)).map((one) => toWire(opened, one)))
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('No connections.')
        const rows = items.map((one) => [
          one.id,
          one.user_id,
          one.provider_id,
          `${one.account.name || one.account.id || '-'}${one.default ? '' : ' (not the default)'}`,
          one.status_reason === undefined ? one.status : `${one.status}: ${one.status_reason}`,
          one.expires_at === undefined ? '-' : toMinutes(one.expires_at),
          one.scopes.join(' '),
        ])
        print(table(['id', 'user', 'provider', 'account', 'status', 'token until', 'scopes'], rows))
      }),
    )

  connections
    .command('delete')
    .description('delete a connection here and revoke its tokens at the provider')
    .argument('<id>', "the connection's id")
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText('after', DELETE_EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withBroker(shell, options, async ({ broker, project }) => {
        const connection = await broker.store.connections.find(id)
        if (connection?.projectId !== project.id)
          throw new CommandFailure(
            `There is no connection "${id}" in the project "${project.name}". \`gatepass connections\` lists those there are.`,
          )
        const entry = await findProviderByUid(broker, project.id, connection.providerUid)
        const name = plain(entry?.provider.displayName ?? 'the provider')
        const revocation = await revokeConnection(broker, connection)
        if (options.json) return printJson({ id, revocation })
        const { mark, says } = REVOCATIONS[revocation]
        print(`${mark} ${id} is deleted here. ${says(name)}`)
      }),
    )
}

const REVOCATIONS = {
  revoked: { mark: MARKS.ok, says: (name) => `${name} has revoked its tokens.` },
  unsupported: {
    mark: MARKS.warning,
    says: (name) =>
      `${name} offers no revocation, so its tokens stay valid until they run out; the user can remove the access in their settings there.`,
  },
  failed: {
    mark: MARKS.warning,
    says: (name) =>
      `${name} did not confirm that its tokens are revoked; the user can remove the access in their settings there.`,
  },
} as const satisfies Record<Revocation, { readonly mark: string; says(name: string): string }>

const PAGE = 1000

async function find(opened: Opened, { user, provider }: ListOptions): Promise<Connection[]> {
  const { broker, project } = opened
  const filter = {
    ...(user !== undefined && { userId: user }),
    ...(provider !== undefined && { providerUid: (await getProvider(opened, provider)).uid }),
  }
  const found: Connection[] = []
  for (;;) {
    const page = { offset: found.length, limit: PAGE }
    const { items } = await broker.store.connections.list(project.id, filter, page)
    found.push(...items)
    if (items.length < PAGE) return found
  }
}

/** As the API lists it. */
async function toWire({ broker }: Opened, connection: Connection) {
  const { id, userId, account, scopes, status, statusReason, expiresAt, createdAt, lastUsedAt } = connection
  const entry = await findProviderByUid(broker, connection.projectId, connection.providerUid)
  return {
    id,
    user_id: userId,
    provider_id: entry?.id ?? connection.providerUid,
    account: { id: account.id, name: account.name },
    scopes,
    status,
    ...(statusReason !== undefined && { status_reason: statusReason }),
    ...(expiresAt !== undefined && { expires_at: toTimestamp(expiresAt) }),
    created_at: toTimestamp(createdAt),
    ...(lastUsedAt !== undefined && { last_used_at: toTimestamp(lastUsedAt) }),
    default: connection.isDefault,
  }
}

function toMinutes(timestamp: string): string {
  return `${timestamp.slice(0, 16).replace('T', ' ')} UTC`
}

const EXAMPLES = `
Examples:
  $ gatepass connections --user ada
  $ gatepass connections --provider github --json
  $ gatepass connections delete conn_0199d1c2a5b37c53b6a1f2e0d4c3b2a1`

const DELETE_EXAMPLES = `
Examples:
  $ gatepass connections delete conn_0199d1c2a5b37c53b6a1f2e0d4c3b2a1
  $ gatepass connections delete conn_0199d1c2a5b37c53b6a1f2e0d4c3b2a1 --json

It is gone here in every case; \`revocation\` says what became of it at the provider: revoked, unsupported or failed.`
