import type { Command } from 'commander'
import { inputFlags } from '../../cli/input-flags.ts'
import { outputTable } from '../../cli/output-table.ts'
import { print, printJson, toMinute } from '../../cli/print.ts'
import {
  type CommonOptions,
  parseId,
  parseWholeNumber,
  type Shell,
  withCommonOptions,
} from '../../cli/shell.ts'
import { omitted } from '../../operations/omitted.ts'
import { callText } from './command-call.ts'
import { defineDecisions, withApprovers } from './command-decide.ts'

const LIST = inputFlags('listApprovals', {
  status: { flags: '--status <status>', help: 'only in this state' },
  user_id: { flags: '--user <id>', help: 'only for this user' },
})

const APPROVALS = outputTable('listApprovals', {
  id: 'id',
  status: 'state',
  tool_id: ['for', (one) => one.tool_id ?? one.provider_id ?? ''],
  user_id: 'user',
  agent: 'asked by',
  rules: 'policies',
  group: 'group',
  created_at: ['asked', ({ created_at: at }) => toMinute(at)],
  expires_at: ['until', ({ expires_at: at }) => toMinute(at)],
  ...omitted('digest', 'use', 'provider_id', 'remember', 'execution_id'),
})

interface ListOptions extends CommonOptions {
  readonly limit: number
}

export function defineApprovals(approvals: Command, shell: Shell): void {
  approvals.addHelpText('after', EXAMPLES)

  LIST.addTo(
    withCommonOptions(
      approvals
        .command('list', { isDefault: true })
        .description('list calls, newest first, without their arguments'),
    ),
  )
    .option('--limit <n>', 'how many', parseWholeNumber, 25)
    .addHelpText('after', EXAMPLES)
    .action(async (options: ListOptions) =>
      withApprovers(shell, options, async (api) => {
        const items = await api.list('listApprovals', { query: LIST.read(options) }, options.limit)
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('No calls wait for an approval.')
        print(APPROVALS(items))
      }),
    )

  withCommonOptions(
    approvals
      .command('show')
      .description(
        'show one call with all its arguments; characters that cannot be seen are drawn as [U+202E]',
      )
      .argument('<id>', "the approval's id, as approvals list shows it", parseId),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApprovers(shell, options, async (api) => {
        const approval = await api.call('getApproval', { params: { id } })
        if (options.json) return printJson(approval)
        print(callText(approval, process.stdout))
      }),
    )

  defineDecisions(approvals, shell)
}

const EXAMPLES = `
Examples:
  $ gatepass approvals --status pending
  $ gatepass approvals show appr_0199d1c2a5b37c53b6a1f2e0d4c3b2a1
  $ gatepass approvals approve appr_0199d1c2a5b37c53b6a1f2e0d4c3b2a1 --approver bob

They need --url (or GATEPASS_URL) and a key of the role approver. docs/guides/approvals.md says who decides.`
