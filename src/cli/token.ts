import type { Command } from 'commander'
import { omitted } from '../operations/omitted.ts'
import type { AccessToken } from '../sdk/generated/wire.ts'
import { type Api, withApi } from './api.ts'
import { CommandFailure, EXIT, refusalOf } from './failure.ts'
import { inputFlags } from './input-flags.ts'
import { print, printJson, sanitize } from './print.ts'
import {
  type CommonOptions,
  commandLine,
  parseId,
  parseNames,
  type Shell,
  withCommonOptions,
} from './shell.ts'

interface TokenOptions extends CommonOptions {
  readonly user: string
  readonly account?: string
  readonly scopes?: string[]
}

const AUTHORIZE = inputFlags('authorize', {
  user_id: { flags: '--user <id>', help: 'the user' },
  account: "which of the user's accounts: a connection id, or an account's id or name",
  // no link is shown
  ...omitted('next_uri', 'user_display', 'lang'),
})

export function defineToken(command: Command, shell: Shell): void {
  AUTHORIZE.addTo(
    withCommonOptions(command.argument('<provider>', "the provider's id, such as github", parseId)),
  )
    .option('--scopes <scopes>', 'scopes that the token must have, comma-separated', parseNames)
    .addHelpText('after', EXAMPLES)
    .action(async (provider: string, options: TokenOptions) =>
      withApi(shell, options, async (api) => {
        const id = await findConnection(api, provider, options)
        const token = id === undefined ? undefined : await findToken(api, id)
        if (token === undefined)
          throw new CommandFailure(
            `${sanitize(options.user)} must approve ${sanitize(provider)} first: ${connectCommand(shell, provider, options)}`,
            EXIT.consentNeeded,
          )
        if (options.json) printJson(token)
        else print(token.access_token)
      }),
    )
}

/** The token of the connection; `undefined` if the user must approve first. */
function findToken(api: Api, id: string): Promise<AccessToken | undefined> {
  return api.call('getConnectionToken', { params: { id } }).catch((error: unknown) => {
    if (refusalOf(error)?.code === 'authorization_required') return undefined
    throw error
  })
}

/**
 * The id of the connection to use; `undefined` if the user must approve first. If the connection does not list
 * all scopes, the server is asked, which may begin an authorization: it expires, unless the user opens its link.
 */
async function findConnection(
  api: Api,
  provider: string,
  { user, account, scopes = [] }: TokenOptions,
): Promise<string | undefined> {
  const query = { user_id: user, provider_id: provider }
  const all = await api.list('listConnections', { query })
  const found = all.find((connection) =>
    account === undefined
      ? connection.default
      : [connection.id, connection.account.id, connection.account.name].includes(account),
  )
  if (found === undefined || scopes.every((scope) => found.scopes.includes(scope))) return found?.id
  // a granted scope may include a missing one, and only the server knows which scopes include others
  const body = {
    auth_requirement: { provider_id: provider, oauth2: { scopes } },
    user_id: user,
    account: found.id,
  }
  const begun = await api.call('authorize', { body })
  return begun.status === 'completed' ? found.id : undefined
}

function connectCommand(
  shell: Shell,
  provider: string,
  { user, scopes, account, project, url }: TokenOptions,
): string {
  return commandLine(
    shell,
    ...['connect', provider, '--user', user],
    ...(scopes === undefined ? [] : ['--scopes', scopes.join()]),
    ...(account === undefined ? [] : ['--account', account]),
    ...(project === undefined ? [] : ['--project', project]),
    ...(url === undefined ? [] : ['--url', url]), // the key is a secret, and is not repeated
  )
}

const EXAMPLES = `
Examples:
  $ curl -H "Authorization: Bearer $(gatepass token github --user ada)" https://api.github.com/user
  $ gatepass token google --user ada --account ada@example.com --json

The exit code is 5 if the user must approve first. Standard error then says which command to run.`
