import type { Command } from 'commander'
import { withApi } from '../../cli/api.ts'
import { MARKS, print, printJson, sanitize } from '../../cli/print.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from '../../cli/shell.ts'

export function defineCancel(command: Command, shell: Shell): void {
  withCommonOptions(command.argument('<id>', "the run's id, as runs list shows it", parseId))
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const run = await api.call('cancelScheduledTool', { params: { id } })
        if (options.json) return printJson(run)
        print(`${MARKS.ok} ${sanitize(id)} was canceled.`)
      }),
    )
}

const EXAMPLES = `
Examples:
  $ gatepass runs cancel exec_0199d1c2a5b37c53b6a1f2e0d4c3b2a1`
