import type { Command } from 'commander'
import { withApi } from './api.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { inputFlags } from './input-flags.ts'
import { outputTable } from './output-table.ts'
import { MARKS, print, printJson, sanitize, toDay } from './print.ts'
import { promptSecret } from './prompt.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from './shell.ts'

const SET = inputFlags('setSecret', {
  value: false, // prompted for
  description: 'what it is for',
})

const SECRETS = outputTable('listSecrets', {
  key: 'key',
  id: 'id',
  updated_at: 'set',
  last_accessed_at: ['last used', ({ last_accessed_at: at }) => (at === undefined ? 'never' : toDay(at))],
  created_at: false,
})

export function defineSecrets(secrets: Command, shell: Shell): void {
  secrets.addHelpText('after', EXAMPLES)

  withCommonOptions(
    secrets.command('list', { isDefault: true }).description('list secrets, without their values'),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const { items } = await api.call('listSecrets')
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('No secrets.')
        print(SECRETS(items))
      }),
    )

  SET.addTo(
    withCommonOptions(
      secrets
        .command('set')
        .description('set a secret (prompts for the value, or reads it from standard input)')
        .argument('<key>', 'the name that tools use, such as API_KEY', parseId),
    ),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (key: string, options: CommonOptions) => {
      const value = await promptSecret(`value of ${key}`)
      return withApi(shell, options, async (api) => {
        const body = { value, ...SET.read(options) }
        const set = await api.call('setSecret', { params: { key }, body })
        if (options.json) return printJson(set)
        print(`${MARKS.ok} ${sanitize(set.key)} is set.`)
      })
    })

  withCommonOptions(
    secrets
      .command('delete')
      .description('delete a secret')
      .argument('<key>', "the secret's key, or its id as secrets list shows it", parseId),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (key: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const { items } = await api.call('listSecrets')
        const secret =
          items.find((candidate) => candidate.id === key) ??
          items.find((candidate) => candidate.key.toLowerCase() === key.toLowerCase())
        if (secret === undefined) throw new CommandFailure(`There is no secret "${key}".`, EXIT.notFound)
        await api.call('deleteSecret', { params: { key: secret.id } })
        if (options.json) return printJson({ id: secret.id, key: secret.key, deleted: true })
        print(`${MARKS.ok} ${sanitize(secret.key)} is deleted.`)
      }),
    )
}

const EXAMPLES = `
Examples:
  $ gatepass secrets
  $ gatepass secrets set WEATHER_API_KEY
  $ printf '%s' "$VALUE" | gatepass secrets set WEATHER_API_KEY --json
  $ gatepass secrets delete WEATHER_API_KEY`
