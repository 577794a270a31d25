import type { Command } from 'commander'
import { withApi } from '../../cli/api.ts'
import { inputFlags } from '../../cli/input-flags.ts'
import { outputTable } from '../../cli/output-table.ts'
import { MARKS, print, printJson, sanitize } from '../../cli/print.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from '../../cli/shell.ts'

const LIST = inputFlags('listStandingApprovals', {
  user_id: { flags: '--user <id>', help: 'only of this user' },
})

const STANDING = outputTable('listStandingApprovals', {
  id: 'id',
  kind: ['kind', ({ kind }) => (kind === 'block' ? 'blocked' : 'approved')],
  user_id: 'user',
  agent: 'agent',
  subject: ['for', ({ subject }) => subject || 'everything'],
  fixed: 'while the same',
  created_at: 'since',
  expires_at: 'until',
})

export function defineStandingApprovals(standing: Command, shell: Shell): void {
  standing.addHelpText('after', EXAMPLES)

  LIST.addTo(
    withCommonOptions(
      standing
        .command('list', { isDefault: true })
        .description('list approvals that cover further calls, and agents that users have blocked'),
    ),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const items = await api.list('listStandingApprovals', { query: LIST.read(options) })
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('No approvals are remembered, and no agent is blocked.')
        print(STANDING(items))
      }),
    )

  withCommonOptions(
    standing
      .command('remove')
      .description('take back a remembered approval or a block; the next call asks again')
      .argument('<id>', 'its id, as standing-approvals list shows it', parseId),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        await api.call('deleteStandingApproval', { params: { id } })
        if (options.json) return printJson({ id, removed: true })
        print(`${MARKS.ok} ${sanitize(id)} is taken back. The next such call asks again.`)
      }),
    )
}

const EXAMPLES = `
Examples:
  $ gatepass standing-approvals --user ada
  $ gatepass standing-approvals remove stap_0199d1c2a5b37c53b6a1f2e0d4c3b2a1`
