import type { Command } from 'commander'
import { withApi } from '../../cli/api.ts'
import { inputFlags } from '../../cli/input-flags.ts'
import {
  bold,
  dim,
  MARKS,
  print,
  printJson,
  quantity,
  shortened,
  table,
  toMinute,
  toSecond,
} from '../../cli/print.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from '../../cli/shell.ts'
import type { PolicyDryRun } from '../../sdk/generated/wire.ts'
import { readPolicies } from './command-file.ts'

/** The most samples that are printed; `--json` has all of them. */
const SHOWN = 20

const DRY_RUN = inputFlags('dryRunPolicies', {
  without: { flags: '--without <ids>', help: 'policies in force to leave out, comma-separated' },
  since: { flags: '--since <time>', help: 'from this time on, by default a week ago; at most 31 days' },
  until: { flags: '--until <time>', help: 'up to this time, by default now' },
})

export function defineDryRun(policies: Command, shell: Shell): void {
  DRY_RUN.addTo(
    withCommonOptions(
      policies
        .command('dry-run')
        .description(
          'list the uses of tokens in the last week that the policies would have refused or asked about; changes nothing',
        )
        .argument(
          '[source]',
          'a JSON file with the policies to try, or - for standard input; by default the policies in force',
          parseId,
        ),
    ),
  )
    .addHelpText('after', DRY_RUN_EXAMPLES)
    .action(async (source: string | undefined, options: CommonOptions) => {
      const wanted = source === undefined ? [] : await readPolicies(source)
      return withApi(shell, options, async (api) => {
        const body = { ...DRY_RUN.read(options), policies: wanted }
        const result = await api.call('dryRunPolicies', { body })
        if (options.json) return printJson(result)
        if (result.uses === 0) print('No token was used in that time.')
        else report(result)
      })
    })
}

function report(result: PolicyDryRun): void {
  const { since, until, complete, uses, permitted, refused, asked, undecided, samples } = result
  const time = `${toMinute(since)} to ${toMinute(until)}`
  print(`${bold(quantity(uses, 'use'))} of tokens ${dim(time)}`)
  if (!complete) print(dim('There were more uses. Only the last ones are judged.'))
  const mark = refused === 0 ? MARKS.ok : MARKS.failed
  print(`  ${mark} ${refused} would have been refused, ${permitted} permitted`)
  if (asked > 0) print(`  ${MARKS.warning} ${asked} would have waited for a person`)
  if (undecided > 0)
    print(
      `  ${MARKS.warning} ${undecided} cannot be decided: a hook would be asked, or the data is no longer stored`,
    )
  if (result.refused_by.length > 0) {
    print()
    print(
      table(
        ['policy', 'would refuse'],
        result.refused_by.map((policy) => [policy.id, quantity(policy.refused, 'use')]),
      ),
    )
  }
  if (result.asked_by.length > 0) {
    print()
    print(
      table(
        ['policy', 'would ask', 'about'],
        result.asked_by.map((policy) => [policy.id, approversText(policy.by), quantity(policy.asked, 'use')]),
      ),
    )
  }
  if (samples.length === 0) return
  print()
  const rows = samples
    .slice(0, SHOWN)
    .map((sample) => [
      toSecond(sample.at),
      shortened(sample.user_id),
      shortened(sample.tool ?? sample.use),
      sample.providers.join(', '),
      decisionText(sample),
      sample.policies.join(', '),
    ])
  print(table(['at', 'user', 'for', 'provider', 'would be', 'by'], rows))
  if (samples.length > SHOWN) print(dim(`--json has ${samples.length} of them.`))
}

function decisionText({ decision, reason, because = [] }: PolicyDryRun['samples'][number]): string {
  if (decision === 'undecided') return `? ${because.join(', ')}`
  return decision === 'refused' ? (reason ?? 'refused') : 'asked'
}

function approversText(by: PolicyDryRun['asked_by'][number]['by']): string {
  if (typeof by === 'object') return `${by.count === 1 ? 'one' : by.count} of the group ${by.group}`
  return by === 'user' ? 'the user' : 'the user, in the client'
}

const DRY_RUN_EXAMPLES = `
Examples:
  $ echo '{"id": "no-leaks", "effect": "deny", "match": {"uses": ["token"]}}' | gatepass policies dry-run -
  $ gatepass policies dry-run policies.json --since 2026-11-01
  $ gatepass policies dry-run --without no-night-work --json

Each token that was released is judged in the order of time, by the policies in force and those of the file. Hooks are
not called, and runs of tools that need no token are not judged. docs/guides/policies.md says what cannot be known.`
