import type { Command } from 'commander'
import { type Api, withApi } from '../../cli/api.ts'
import { outputTable } from '../../cli/output-table.ts'
import { MARKS, print, printJson, sanitize } from '../../cli/print.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from '../../cli/shell.ts'
import { omitted } from '../../operations/omitted.ts'
import type { Policy } from '../../sdk/generated/wire.ts'
import { defineDryRun } from './command-dry-run.ts'
import { type NewPolicy, readPolicies, replacementBy } from './command-file.ts'

const POLICIES = outputTable('listPolicies', {
  id: 'id',
  effect: ['effect', ({ effect, enabled }) => (enabled ? effect : `${effect} (off)`)],
  match: ['match', ({ match }) => JSON.stringify(match)],
  description: 'description',
  ...omitted('enabled', 'created_at', 'updated_at'),
})

const QUOTAS = outputTable('listQuotas', {
  policy_id: 'policy',
  per: 'per',
  subject: 'of',
  used: ['used', ({ used, limit }) => `${used} of ${limit}`],
  window_end: 'until',
  ...omitted('limit', 'window_start'),
})

export function definePolicies(policies: Command, shell: Shell): void {
  policies.addHelpText('after', EXAMPLES)

  withCommonOptions(
    policies.command('list', { isDefault: true }).description('list policies, without the secrets of hooks'),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const items = await api.list('listPolicies')
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('No policies: every key may use what its role allows.')
        print(POLICIES(items))
      }),
    )

  withCommonOptions(
    policies
      .command('set')
      .description('create policies, or replace those with the same ids; they apply at once')
      .argument(
        '<source>',
        'a JSON file with one policy or an array of them, or - for standard input',
        parseId,
      ),
  )
    .addHelpText('after', SET_EXAMPLES)
    .action(async (source: string, options: CommonOptions) => {
      const wanted = await readPolicies(source)
      return withApi(shell, options, async (api) => {
        const items: Policy[] = []
        for (const policy of wanted) items.push(await put(api, policy))
        if (options.json) return printJson({ items })
        for (const { id, effect, enabled } of items)
          print(`${MARKS.ok} ${sanitize(id)} is set: ${effect}${enabled ? '' : ', switched off'}`)
      })
    })

  defineDryRun(policies, shell)

  withCommonOptions(
    policies.command('quotas').description('list what quotas have counted in the current hour or day'),
  )
    .addHelpText('after', QUOTAS_EXAMPLES)
    .action(async (options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const items = await api.list('listQuotas')
        if (options.json) return printJson({ items })
        if (items.length === 0)
          return print('Nothing is counted: there is no quota, or no run in its window.')
        print(QUOTAS(items))
      }),
    )

  withCommonOptions(
    policies
      .command('delete')
      .description('delete a policy, which applies no longer')
      .argument('<id>', "the policy's id, as policies list shows it", parseId),
  )
    .addHelpText('after', DELETE_EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        await api.call('deletePolicy', { params: { id } })
        if (options.json) return printJson({ id, deleted: true })
        print(`${MARKS.ok} ${sanitize(id)} is deleted.`)
      }),
    )
}

/** Creates or replaces a policy. A hook's secret that the file does not contain is kept. */
async function put(api: Api, wanted: NewPolicy): Promise<Policy> {
  const params = { id: wanted.id }
  if ((await api.find('getPolicy', { params })) === undefined)
    return api.call('createPolicy', { body: wanted })
  return api.call('updatePolicy', { params, body: await replacementBy(wanted) })
}

const EXAMPLES = `
Examples:
  $ gatepass policies                                 list them
  $ gatepass policies set policies.json               create or replace those in the file
  $ gatepass policies dry-run policies.json           what they would have refused last week
  $ gatepass policies delete no-night-work

docs/guides/policies.md describes policies and how several are combined.`

const QUOTAS_EXAMPLES = `
Examples:
  $ gatepass policies quotas
  $ gatepass policies quotas --json`

const SET_EXAMPLES = `
Examples:
  $ echo '{"id": "no-leaks", "effect": "deny", "match": {"uses": ["token"]}}' | gatepass policies set -
  $ gatepass policies set policies.json --project staging

A hook's secret that the file does not contain is kept.`

const DELETE_EXAMPLES = `
Examples:
  $ gatepass policies delete no-night-work
  $ gatepass policies delete no-leaks --project staging --json`
