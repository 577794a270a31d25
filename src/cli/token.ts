import type { Command } from 'commander'
import { toTimestamp } from '../domain/clock.ts'
import { getAccessToken } from '../flows/get-access-token.ts'
import { releaseTokens } from '../flows/release-tokens.ts'
import { getProvider } from './choose-provider.ts'
import { print, printJson } from './print.ts'
import {
  CommandFailure,
  type CommonOptions,
  jsonOption,
  parseScopes,
  projectOption,
  type Shell,
  typed,
} from './shell.ts'
import { withBroker } from './with-broker.ts'

interface TokenOptions extends CommonOptions {
  readonly user: string
  readonly account?: string
  readonly scopes?: string[]
}

export function addToken(program: Command, shell: Shell): void {
  program
    .command('token')
    .description("print a user's access token alone, refreshed if need be")
    .argument('<provider>', "the provider's id, such as github")
    .requiredOption('--user <id>', 'the user')
    .option('--account <account>', "which of the user's accounts: a connection's id, an account's id or name")
    .option('--scopes <scopes>', 'scopes it must have, comma-separated', parseScopes)
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (provider: string, options: TokenOptions) =>
      withBroker(shell, options, async (opened) => {
        const { broker, project } = opened
        const entry = await getProvider(opened, provider)
        const need = {
          projectId: project.id,
          userId: options.user,
          entry,
          scopes: options.scopes ?? [],
          ...(options.account !== undefined && { account: options.account }),
        }
        const token = await releaseTokens(
          broker,
          () => getAccessToken(broker, need),
          (found) => (found.outcome === 'ready' ? [found] : []),
        )
        switch (token.outcome) {
          case 'provider_unavailable':
            throw new CommandFailure(token.message)
          case 'authorization_required':
            throw new CommandFailure(
              `${options.user} has to approve ${entry.provider.displayName} first: ${connectCommand(shell, entry.id, options)}`,
            )
          case 'ready': {
            const { connection, accessToken } = token
            if (!options.json) return print(accessToken)
            return printJson({
              access_token: accessToken,
              token_type: connection.tokenType,
              ...(connection.expiresAt !== undefined && { expires_at: toTimestamp(connection.expiresAt) }),
              scopes: connection.scopes,
            })
          }
        }
      }),
    )
}

function connectCommand(
  shell: Shell,
  providerId: string,
  { user, scopes, account, project }: TokenOptions,
): string {
  return typed(
    shell,
    ...['connect', providerId, '--user', user],
    ...(scopes === undefined ? [] : ['--scopes', scopes.join()]),
    ...(account === undefined ? [] : ['--account', account]),
    ...(project === 'default' ? [] : ['--project', project]),
  )
}

const EXAMPLES = `
Examples:
  $ curl -H "Authorization: Bearer $(gatepass token github --user ada)" https://api.github.com/user
  $ gatepass token google --user ada --account ada@example.com --json

Exit code 1 when the user must approve first; standard error then says which command asks for it.`
