import { type Command, InvalidArgumentError } from 'commander'
import { omitted } from '../operations/omitted.ts'
import type { ApiKey, IssuedApiKey } from '../sdk/generated/wire.ts'
import { parseDuration } from '../settings/duration.ts'
import { withApi } from './api.ts'
import { inputFlags } from './input-flags.ts'
import { outputTable } from './output-table.ts'
import { bold, dim, MARKS, print, printJson, sanitize, toDay } from './print.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from './shell.ts'

const CREATE = inputFlags('createApiKey', {
  role: {
    flags: '--role <role>',
    help: 'admin can do everything, caller uses tools and tokens, readonly only reads, approver decides about calls',
  },
  project: false, // --project of all commands
  name: 'what the key is for, shown by keys list',
  user_id: { flags: '--user <id>' },
  groups: {
    flags: '--group <names>',
    help: 'of an approver: the groups for which it decides, separated by commas',
  },
  expires_at: false,
  expires_in: {
    flags: '--expires <time>',
    help: 'lifetime, such as 12h or 90d; without it, the key never expires',
    parse: parseTime,
  },
})

const ROTATE = inputFlags('rotateApiKey', {
  grace: {
    flags: '--grace <time>',
    help: 'how long the old key stays valid, such as 30m or 7d (default: a day)',
    parse: parseTime,
  },
})

const KEYS = outputTable('listApiKeys', {
  id: 'id',
  project: 'project',
  role: 'role',
  user_id: 'user',
  groups: 'groups',
  status: ['status', statusOf],
  created_at: 'created',
  last_used_at: ['last used', ({ last_used_at: at }) => (at === undefined ? 'never' : toDay(at))],
  rate_limit: ['limit', ({ rate_limit: limit }) => (limit === 0 ? 'none' : limit ? `${limit}/s` : '')],
  name: 'name',
  // in the status
  ...omitted('expires_at', 'revoked_at', 'replaced_by'),
})

export function defineKeys(keys: Command, shell: Shell): void {
  keys.addHelpText('after', EXAMPLES)

  CREATE.addTo(
    withCommonOptions(
      keys
        .command('create')
        .description(
          'create an API key, which is shown only once; creates the project too if it does not exist',
        ),
    ),
  )
    .addHelpText('after', CREATE_EXAMPLES)
    .action(async (options: CommonOptions) =>
      withApi(shell, { ...options, creates: 'project' }, async (api) => {
        const { role, user_id: user, ...limits } = CREATE.read(options)
        // without a server, the command has opened the project already
        const project = api.local === undefined ? options.project : undefined
        const issued = await api.call('createApiKey', { body: { role, user_id: user, ...limits, project } })
        if (options.json) return printJson(toJson(issued))
        print(`\n  ${bold(issued.key)}\n`)
        print(
          `The key is not shown again: store it now. (${issued.id}, ${role} of the project "${sanitize(issued.project)}"${user == null ? '' : `, for the user "${sanitize(user)}" only`})`,
        )
      }),
    )

  withCommonOptions(keys.command('list').description('list API keys, without the keys themselves'))
    .addHelpText('after', LIST_EXAMPLES)
    .action(async (options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const items = await api.list('listApiKeys')
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('No API keys.')
        print(KEYS(items))
      }),
    )

  ROTATE.addTo(
    withCommonOptions(
      keys
        .command('rotate')
        .description('replace a key with a new one; both are valid until the old one expires')
        .argument('<id>', "the old key's id, as keys list shows it", parseId),
    ),
  )
    .addHelpText('after', ROTATE_EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const issued = await api.call('rotateApiKey', { params: { id }, body: ROTATE.read(options) })
        if (options.json) return printJson(toJson(issued))
        print(`\n  ${bold(issued.key)}\n`)
        print(`The key is not shown again: store it now. (${issued.id})`)
        print(
          `${sanitize(id)} stays valid until ${issued.replaces.expires_at}: give the new key to everyone who uses the old one.`,
        )
      }),
    )

  withCommonOptions(
    keys
      .command('revoke')
      .description('revoke an API key; it is refused from now on')
      .argument('<id>', "the key's id, as keys list shows it", parseId),
  )
    .addHelpText('after', REVOKE_EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        await api.call('revokeApiKey', { params: { id } })
        if (options.json) return printJson({ id, revoked: true })
        print(`${MARKS.ok} ${sanitize(id)} is revoked. ${dim('Requests with it answer 401 from now on.')}`)
      }),
    )
}

/** The JSON output, on whose members other programs rely. */
function toJson({ name: _, ...issued }: IssuedApiKey) {
  return issued
}

function statusOf({ status, expires_at: end, revoked_at: revoked }: ApiKey): string {
  if (revoked !== undefined) return `revoked ${toDay(revoked)}`
  return end === undefined ? status : `${status === 'expired' ? 'expired' : 'until'} ${toDay(end)}`
}

/** Seconds of a duration such as `30m`, `24h`, `90d`. */
function parseTime(text: string): number {
  const seconds = parseDuration(text, ['s', 'm', 'h', 'd', 'w'])
  if (seconds === undefined)
    throw new InvalidArgumentError('Give a number and a unit (s, m, h, d, w), such as 12h or 90d.')
  return seconds
}

const EXAMPLES = `
Examples:
  $ gatepass keys create --role caller --name "the support agent"
  $ gatepass keys create --project acme --role admin --json
  $ gatepass keys list
  $ gatepass keys rotate key_0199d1c2a5b37c53b6a1f2e0d4c3b2a1 --grace 7d
  $ gatepass keys revoke key_0199d1c2a5b37c53b6a1f2e0d4c3b2a1`

const CREATE_EXAMPLES = `
Examples:
  $ gatepass keys create --role caller --name "the support agent"
  $ gatepass keys create --project acme --role admin --json
  $ gatepass keys create --role readonly --expires 90d --rate-limit 20 --name "the status page"
  $ gatepass keys create --role caller --user ada --name "Ada's MCP client"`

const ROTATE_EXAMPLES = `
Examples:
  $ gatepass keys rotate key_0199d1c2a5b37c53b6a1f2e0d4c3b2a1
  $ gatepass keys rotate key_0199d1c2a5b37c53b6a1f2e0d4c3b2a1 --grace 7d --json`

const LIST_EXAMPLES = `
Examples:
  $ gatepass keys list
  $ gatepass keys list --project acme --json`

const REVOKE_EXAMPLES = `
Examples:
  $ gatepass keys revoke key_0199d1c2a5b37c53b6a1f2e0d4c3b2a1
  $ gatepass keys revoke key_0199d1c2a5b37c53b6a1f2e0d4c3b2a1 --project acme`
